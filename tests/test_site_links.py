"""`tools/site_links.py` finds links of a site that lead nowhere."""

import site_links


def test_files_and_anchors_that_do_not_exist_are_found(tmp_path):
    (tmp_path / "folder").mkdir()
    links = "../index.html#top", "../index.html#gone", "gone.png", "#here", "https://example.org/gone", "../folder/"
    page = "<p id='here'></p>" + "".join(f'<a href="{link}"></a>' for link in links)
    (tmp_path / "folder" / "index.html").write_text(page)
    (tmp_path / "index.html").write_text('<h1 id="top"></h1><img src="folder/index.html?v=1">')
    assert list(site_links.broken_links(tmp_path)) == [
        "folder/index.html: ../index.html#gone",
        "folder/index.html: gone.png",
    ]
