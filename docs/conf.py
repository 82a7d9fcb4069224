"""Settings of the documentation site; `make docs` builds it without a network, and a warning is an error."""

import sys
from pathlib import Path

import evolabel

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "tools"), str(HERE.parent / "benchmarks")]

project = "evolabel"
author = "The evolabel developers"
copyright = "The evolabel developers"
release = version = evolabel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "generated_reference",  # docs/_ext
    "plant_pictures",
]
exclude_patterns = ["_build", "auto_tutorials/index.rst"]  # tutorials/index.md lists the lessons
templates_path = ["_templates"]
default_role = "py:obj"  # docstrings put names between single backticks

# Markdown
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4  # as GitHub makes them
suppress_warnings = ["myst.header", "config.cache"]

# The reference, from docstrings
autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"  # "On this page" is narrow
maximum_signature_line_length = 100

# Tutorials and examples, which run while the site is built
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["auto_tutorials", "auto_examples"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "min_reported_time": 20,
    "write_computation_times": False,
    "show_signature": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
}

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "evolabel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "evolabel"},
    "navbar_end": ["version-switcher", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    # A release adds its line to this file; all versions read the one at the top of the site.
    "switcher": {"json_url": "_static/switcher.json", "version_match": "dev"},
    "check_switcher": False,
}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False
