"""Where the printed method cannot be right: each claim of the page holds, and its numbers are those of a fresh run."""

import json
import re
from functools import cache

import errata
import pytest

# These learn whole streams; the rest is small enough for the interpreter.
STREAMS = ("step-length", "indefinite-coupling", "starting-ridge", "prior-fading")

cases = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.compiled if name in STREAMS else ()) for name in errata.EXPERIMENTS]
)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


@cache
def finding(name):
    return errata.EXPERIMENTS[name]()


def measured(name):
    return finding(name).numbers


def last_digit(number):
    """What one unit in the last digit shown is worth."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def block_on_page(name):
    page = errata.PAGE.read_text(encoding="utf-8")
    found = re.search(f"<!-- errata:{name} -->(.*?)<!-- end -->", page, re.DOTALL)
    assert found is not None
    return found[1].strip()


@cases
def test_page_shows_a_fresh_run(name):
    fresh, shown = finding(name).block(), block_on_page(name)
    assert NUMBER.sub("#", " ".join(fresh.split())) == NUMBER.sub("#", " ".join(shown.split()))
    for ours, theirs in zip(NUMBER.findall(fresh), NUMBER.findall(shown), strict=True):
        gap = abs(float(ours.replace(",", "")) - float(theirs.replace(",", "")))
        assert gap <= 1.01 * last_digit(theirs), (ours, theirs)


@cases
def test_results_file_holds_a_fresh_run(name):
    stored = json.loads(errata.RESULT.read_text(encoding="utf-8"))[name]
    assert stored == pytest.approx(measured(name), rel=1e-4, abs=1e-6)


def test_page_and_script_know_the_same_errata():
    page = errata.PAGE.read_text(encoding="utf-8")
    assert re.findall(r"<!-- errata:([\w-]+) -->", page) == list(errata.EXPERIMENTS)
    assert page.count("<!-- end -->") == len(errata.EXPERIMENTS)


def test_filling_a_page_twice_changes_nothing():
    found = {"tied-scores": finding("tied-scores")}
    page = "before\n<!-- errata:tied-scores -->\n<!-- end -->\nafter\n<!-- end -->\n"
    once = errata.filled(page, found)
    assert once.startswith("before\n")
    assert once.endswith("<!-- end -->\nafter\n<!-- end -->\n")
    assert errata.filled(once, found) == once


@pytest.mark.compiled
def test_printed_step_diverges():
    n = measured("step-length")
    assert n["safe"] >= n["hessian"] * (1.0 - 1e-12)
    assert n["printed"] < n["hessian"] / 2.0
    assert n["literal"] > 1e20
    assert n["sound"] < n["start"]
    assert n["at"] > 0
    assert n["mended"] == 0


@pytest.mark.compiled
def test_printed_coupling_has_no_minimum():
    n = measured("indefinite-coupling")
    assert n["lowest"] < -0.1
    assert min(n["shifted"], n["laplacian"]) > -1e-12
    assert n["fall_far"] < n["fall_near"] < 0.0
    assert n["rise_far"] > 0.0
    assert n["at"] > 0
    assert n["mended"] == 0


def test_printed_gradient_lacks_a_factor():
    n = measured("gradient-factor")
    assert n["printed"] > 0.1
    assert max(n["twice"], n["own"]) < 1e-5


def test_thresholded_intercept_loses_the_base_rate():
    n = measured("intercept")
    assert n["spared"] == pytest.approx(0.75)
    assert n["printed"] == pytest.approx(0.25)


def test_constant_labels_are_harmless():
    n = measured("constant-label")
    assert n["undefined"] == 5
    assert n["bad"] == 0
    assert n["pull"] == 0.0


@pytest.mark.compiled
def test_ridge_by_condition_predicts_worse():
    n = measured("starting-ridge")
    assert n["press"] > 1e3 * n["condition"]
    assert n["press_pa"] > n["condition_pa"] + 0.01


def test_rls_keeps_its_bias():
    n = measured("kept-bias")
    assert n["kept"] == pytest.approx(1.0, abs=1e-6)
    assert n["left"] > 0.03
    assert n["mended"] < 1e-3


def test_the_creating_sample_is_learned():
    n = measured("creating-sample")
    assert n["born"] == 1
    assert n["own"] > 0.9
    assert n["printed"] < 0.5


def test_wide_start_forgets_the_parent():
    n = measured("wide-start")
    assert n["wide"] > 3.0 * n["anchored"]
    assert n["anchored"] < n["noise"]


@pytest.mark.compiled
def test_fading_prior_makes_rules_explode():
    n = measured("prior-fading")
    assert n["literal"] > 200
    assert n["wide"] > n["counted"]
    assert n["counted"] <= 12
    assert n["literal_distance"] > 10.0 * n["counted_distance"]


def test_printed_radius_depends_on_the_dimension():
    n = measured("radius")
    assert n["paper_16"] > 0.5
    assert n["paper_260"] < 1e-6
    assert all(n[f"chi2_{p}"] == pytest.approx(1e-3) for p in (16, 72, 120, 260))


def test_block_of_the_inverse_is_too_narrow():
    n = measured("product-space")
    assert n["block"] > 5.0 * n["marginal"]
    assert n["own"] == pytest.approx(10.0, rel=0.1)
    assert n["wrong"] > 1.5 * n["own"]


def test_memberships_vanish_or_saturate():
    n = measured("memberships")
    assert n["vanished_72"] == n["vanished_260"] == 1.0
    assert n["one_16"] > n["one_72"] > n["one_260"]
    assert min(n["sqrt_260"], n["tenth_260"]) > 4.0 * n["one_260"]
    assert all(n[f"sum_{p}"] == pytest.approx(1.0) for p in (16, 72, 260))


def test_mean_of_precisions_ignores_the_gap():
    n = measured("merged-spread")
    assert n["pooled"] == pytest.approx(2.0)
    assert n["precisions"] < 1.1


def test_angle_does_not_see_intercepts():
    n = measured("blind-angle")
    assert n["likeness"] == pytest.approx(1.0)
    assert n["angle_merged"] == pytest.approx(0.5)
    assert n["output_rho"] == 0.0
    assert n["output_merged"] == 0.0
    assert n["allowed"] == 0.0


def test_variance_derivation_is_misprinted_but_ends_well():
    n = measured("variance-derivation")
    assert abs(n["line"] - n["growth"]) > 0.01
    assert abs(n["addon"] - n["shift"]) > 0.01
    assert n["error"] < 1e-12


def test_ties_do_not_exceed_one():
    n = measured("tied-scores")
    assert n["printed"] == pytest.approx(1.5)
    assert n["own"] == pytest.approx(2.0 / 3.0)


def test_raising_the_ambiguity_threshold_selects_more():
    n = measured("thresholds")
    assert n["high"] > n["low"]
