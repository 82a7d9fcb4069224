"""From a person's own file to the exported model, in a browser: nothing is read before, and nothing else is used."""

import re

import pytest

from evolabel.active import ActiveLearner
from server.browser.conftest import picture
from server.browser.test_answer_page import check
from server.signed_in import PASSWORD, add_person

ROWS = 240
LINES = [
    f"w{row},2026-03-{1 + row // 24:02d} {row % 24:02d}:00,{'north' if row % 3 else 'south'},"
    f"{(row * 37) % 100 / 10:.1f},{'' if row % 4 == 3 else int((row * 37) % 100 > 60)}"
    for row in range(ROWS)
]
CSV = "\n".join(["sample_id,taken,site,turbidity,murky", *LINES]) + "\n"


@pytest.fixture
def root(serve, visit):
    service, url = serve()
    page = visit(service, url, add_person(service, "root", None, PASSWORD, admin=True))
    page.goto("/")
    return service, page


def upload(page, folder, text=CSV, name="river.csv"):
    file = folder / name
    file.write_text(text)
    page.goto("/new")
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Look at its columns").click()


def test_from_an_own_file_to_the_exported_model(root, tmp_path):
    _, page = root
    day = page.locator("#day")
    page.get_by_role("link", name="New project").click()
    (tmp_path / "river.csv").write_text(CSV)
    page.locator("#file").set_input_files(tmp_path / "river.csv")
    page.get_by_role("button", name="Look at its columns").click()
    page.get_by_role("heading", name="river.csv").wait_for()
    chosen = {s.get_attribute("data-column"): s.input_value() for s in page.locator("select").all()}
    assert chosen == {"sample_id": "id", "taken": "time", "site": "source", "turbidity": "number", "murky": "label"}
    assert page.locator("#a-day").input_value() == "24"
    page.get_by_label("Budget").fill("50")
    assert "Of 1 times 24 labels a day, people are asked for at most 12." in page.locator("#day").inner_text()
    page.locator("#labels").fill("murky: the water is cloudy\nsmell: it smells")
    assert "Of 2 times 24 labels a day, people are asked for at most 24" in day.inner_text()
    page.locator("#labels").fill("murky: the water is cloudy")
    page.locator("#people").fill("mira")
    page.get_by_text("Rows wait for answers").click()  # all rows at once
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="File", exact=True).wait_for()
    assert "/invite/" in page.locator(".note.once").inner_text()
    page.get_by_text(f"{ROWS} of {ROWS} rows sent").wait_for(timeout=60_000)  # it is counted on without a reload
    page.get_by_role("link", name=re.compile("Answer [0-9]+ question")).click()
    page.locator(".choice.yes").first.click()
    page.get_by_role("button", name="Send").first.click()
    page.get_by_role("link", name="Export").click()
    with page.expect_download() as found:
        page.get_by_role("link", name="Model file").click()
    model = tmp_path / found.value.suggested_filename
    found.value.save_as(model)
    lines = page.locator("pre").inner_text().splitlines()
    assert lines[1] == f'model = ActiveLearner.load("{model.name}")'
    learner = ActiveLearner.load(model)
    assert learner.classifier.n_rules_ > 0
    with page.expect_download() as found:
        page.get_by_role("link", name="CSV Answers").click()
    assert found.value.suggested_filename == "river-answers.csv"


def test_a_wrong_file_is_said_on_the_page_and_another_can_be_sent(root, tmp_path):
    _, page = root
    upload(page, tmp_path, CSV + "w999,2026-04-01\n")
    page.get_by_text(f"river.csv, line {ROWS + 2}: 2 values, expected 5 as in the header").wait_for()
    assert page.url.endswith("/new")
    upload(page, tmp_path)
    page.get_by_role("heading", name="river.csv").wait_for()
    page.locator("select[data-column=site]").select_option("number")
    page.get_by_role("button", name="Start").click()
    wrong = page.locator("select[data-column=site][aria-invalid]")
    wrong.wait_for()
    assert "line 2: 'site' is 'south'; expected a number" in page.get_by_role("alert").inner_text()
    assert wrong.evaluate("e => e === document.activeElement")


def test_an_upload_that_is_cut_off_is_said(root, tmp_path):
    service, page = root
    page.route("**/new", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    upload(page, tmp_path)
    page.get_by_text("The file was cut off on its way").wait_for()
    assert page.get_by_role("button", name="Look at its columns").is_enabled()
    assert list(service.workers) == ["pumps"]


def test_a_file_is_dropped(root, tmp_path):
    _, page = root
    page.goto("/new")
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "river.csv"));
            document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        CSV,
    )
    page.get_by_role("heading", name="river.csv").wait_for()


def test_a_running_file_is_stopped_and_continued(root, tmp_path):
    service, page = root
    upload(page, tmp_path, re.sub(r",[01]?\n", ",\n", CSV))
    page.locator("select[data-column=murky]").select_option("label")
    page.get_by_label("Budget").fill("100")  # so that the rows wait for answers
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on").wait_for()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Stop").wait_for()
    assert service.workers["river"].state.seen < ROWS


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "size"), [("light", (1280, 900)), ("dark", (390, 844)), ("dark", (320, 640))])
def test_axe_finds_nothing_on_the_pages_of_a_file(root, axe, tmp_path, theme, size):
    _, page = root
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=theme)

    def look(name):
        check(page, axe, f"{name} {theme} {size}")
        picture(page, f"{name}-{size[0]}-{theme}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, size)

    page.goto("/new")
    look("new")
    upload(page, tmp_path, "a,a\n1,2\n", "wrong.csv")
    page.get_by_text("several columns are named").wait_for()
    look("new-wrong")
    upload(page, tmp_path)
    page.get_by_role("heading", name="river.csv").wait_for()
    look("new-file")
    page.locator("#people").fill("mira")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="File", exact=True).wait_for()
    look("file")
    page.goto("/p/river/export")
    page.get_by_text("New address").click()
    look("export")
