"""Births, merges and deaths are listed, and the list accounts for every rule alive."""

import numpy as np

from evolabel import EvolvingFuzzyClassifier


def kinds(clf):
    return [event.kind for event in clf.events_]


def alive_by_events(clf):
    alive = set()
    for event in clf.events_:
        if event.kind in ("birth", "joined"):
            assert event.rule not in alive
            alive.add(event.rule)
        elif event.kind == "merge":
            assert event.rule in alive
            alive.remove(event.other)
        else:
            alive.remove(event.rule)
    return alive


def alive(clf):
    return {rule.identity for rule in clf.rules_}


def two_worlds(stream):
    """The stream, whose last part lies far away."""
    X, Y = stream[0].copy(), stream[1]
    X[90:105] += 40.0
    X[105:] -= 60.0
    return X, Y


def test_the_first_event_is_the_birth_of_the_first_rule(trained):
    first = trained.events_[0]
    assert (first.kind, first.sample, first.other) == ("birth", 1, None)


def test_events_are_in_the_order_of_the_stream(trained):
    samples = [event.sample for event in trained.events_]
    assert samples == sorted(samples)
    assert samples[0] >= 1
    assert samples[-1] <= trained.n_samples_seen_


def test_births_account_for_every_rule(trained):
    assert set(kinds(trained)) == {"birth"}
    assert alive_by_events(trained) == alive(trained)
    births = {event.rule: event.sample for event in trained.events_}
    assert {rule.identity: rule.born for rule in trained.rules_} == births


def test_a_full_rule_base_merges_to_make_room_for_what_is_new(stream):
    X, Y = two_worlds(stream)
    clf = EvolvingFuzzyClassifier(max_rules=3, scaling="none").fit(X[:85], Y[:85])
    assert clf.n_rules_ == 3
    clf.partial_fit(X[85:], Y[85:])
    assert kinds(clf).count("merge") >= 2
    assert clf.n_rules_ == 3
    assert alive_by_events(clf) == alive(clf)
    assert sum(rule.support for rule in clf.rules_) == len(X)


def test_a_merge_comes_right_before_the_birth_it_makes_room_for(stream):
    X, Y = two_worlds(stream)
    clf = EvolvingFuzzyClassifier(max_rules=3, scaling="none").fit(X[:85], Y[:85]).partial_fit(X[85:], Y[85:])
    history = kinds(clf)
    assert all(history[at + 1] == "birth" for at, kind in enumerate(history) if kind == "merge")


def test_starved_rules_die(stream):
    X, Y = stream[0].copy(), stream[1]
    X[70] += 500.0
    clf = EvolvingFuzzyClassifier(scaling="none", max_rules=20, prune_after=15, min_support=2.0).fit(X[:60], Y[:60])
    clf.partial_fit(X[60:], Y[60:])
    stranger = next(event.rule for event in clf.events_ if event.kind == "birth" and event.sample == 71)
    assert ("death", stranger) in {(event.kind, event.rule) for event in clf.events_}
    assert alive_by_events(clf) == alive(clf)
    assert all(rule.support >= 2.0 or clf.n_samples_seen_ - rule.last_won <= 15 for rule in clf.rules_)


def test_without_pruning_nobody_dies(stream):
    X, Y = two_worlds(stream)
    clf = EvolvingFuzzyClassifier(scaling="none", max_rules=20).fit(X, Y)
    assert "death" not in kinds(clf)


def test_adopted_rules_join_under_new_identities(stream):
    X, Y = stream
    one = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60])
    other = one.sibling().partial_fit(X[60:], Y[60:])
    known = alive(one)
    one.merge(other)
    joined = {event.rule for event in one.events_ if event.kind == "joined"}
    assert len(joined) == other.n_rules_
    assert not joined & known
    assert alive_by_events(one) == alive(one)


def test_every_event_reads_as_a_sentence(stream):
    X, Y = two_worlds(stream)
    clf = EvolvingFuzzyClassifier(scaling="none", max_rules=3, prune_after=5).fit(X[:85], Y[:85])
    clf.partial_fit(X[85:], Y[85:])
    clf.merge(clf.sibling().partial_fit(X, Y))
    words = {"birth": "was born", "merge": "was merged into", "joined": "joined from", "death": "was removed"}
    assert {"birth", "merge", "joined"} <= set(kinds(clf))
    for event in clf.events_:
        assert str(event).startswith(f"sample {event.sample}: rule ")
        assert words[event.kind] in str(event)


def test_a_new_fit_starts_a_new_history(trained, stream):
    trained.fit(stream[0][:30], stream[1][:30])
    assert trained.events_[0].sample == 1
    assert trained.events_[-1].sample <= 30
    assert np.all([rule.born <= 30 for rule in trained.rules_])
