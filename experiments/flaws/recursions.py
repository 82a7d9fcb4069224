"""Flaws in how consequents are initialised and updated, eqs. (25)-(28)."""

import numpy as np
from callable_kernels import callable_kernel

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.rules.loops.paper import iteration
from evolabel.stages.rules.proximal import largest_eigenvalue
from flaws.finding import Finding
from flaws.single_rule import fac_of_tail, linear_labels, with_ones

prox_step, rls_step = callable_kernel(iteration.prox_step), callable_kernel(iteration.rls_step)


def kept_bias() -> Finding:
    """RLS continues from weights that were halved after 50 of 300 samples."""
    X, Y = linear_labels(300, 5, 3, seed=7)
    R = with_ones(X)
    W, H, G = np.zeros((3, 6)), np.zeros((6, 6)), np.zeros((3, 6))
    P, guided, none = np.eye(6) * 1e8, np.zeros((3, 6)), np.zeros((3, 6))
    for i in range(len(R)):
        rls_step(W, R[i], P @ R[i], Y[i], np.ones(3), 1.0, np.empty(3))
        rls_step(guided, R[i], P @ R[i], Y[i], np.ones(3), 1.0, np.empty(3))
        H, G = H + np.outer(R[i], R[i]), G + np.outer(Y[i], R[i])
        P = np.linalg.inv(H + 1e-8 * np.eye(6))
        L = largest_eigenvalue(H)
        prox_step(guided, guided @ H, none, G, none[0], none[0], none, 0.0, 0.0, L)
        if i == 49:
            W, guided = W / 2.0, guided / 2.0
            before = (W - G @ P) @ H
    exact = G @ P
    after = (W - exact) @ H
    kept = float(np.linalg.norm(after) / np.linalg.norm(before))
    left, mended = (float(np.linalg.norm(V - exact) / np.linalg.norm(exact)) for V in (W, guided))
    return Finding(
        {"kept": kept, "left": left, "mended": mended},
        f"Weights halved at sample 50 of 300: |H (W - W_ls)| at the end is {kept:.4f} times what it was, the weights "
        f"are still {100 * left:.1f} % off; with one `prox_step` on H and G per sample "
        f"{100 * mended:.1f} %.",
    )


def wide_start() -> Finding:
    """A rule that starts right, with P = omega I or with a ridge worth a few samples, and learns as many as q."""
    rng = np.random.default_rng(8)
    p, n = 20, 21
    W_parent = rng.normal(size=(1, p + 1)) / np.sqrt(p)
    fresh = with_ones(rng.normal(size=(2000, p)))
    errors = {}
    for name, omega in (("wide", 1e5), ("anchored", 0.2)):
        squared = []
        for _ in range(20):
            R = with_ones(rng.normal(size=(n, p)))
            W, P = W_parent.copy(), omega * np.eye(p + 1)
            for r in R:
                u = P @ r
                rls_step(W, r, u, W_parent @ r + 0.3 * rng.normal(size=1), np.ones(1), 1.0, np.empty(1))
                P -= np.outer(u, u) / (1.0 + r @ u)
            squared.append(np.mean((fresh @ (W - W_parent).T) ** 2))
        errors[name] = float(np.sqrt(np.median(squared)))
    return Finding(
        {**errors, "noise": 0.3},
        f"20 features, a parent that is exactly right, noise of 0.30 in the targets: after 21 samples, as many as "
        f"weights, the error on fresh samples is {errors['wide']:.2f} with omega = 1e5 and {errors['anchored']:.2f} "
        f"with a ridge of 5 towards the parent.",
    )


def creating_sample() -> Finding:
    """The answer at the sample that started a rule, right after it was learned; its labels are 1, all others 0."""
    rng = np.random.default_rng(9)
    X, Y = rng.normal(size=(60, 4)), np.zeros((60, 2))
    Y[::10] = 1.0
    fac = fac_of_tail(4, 1e-3)
    clf = EvolvingFuzzyClassifier.paper(scaling="none", space="input", vigilance=fac, alpha=0.0, beta=0.0).fit(X, Y)
    x, before = np.full((1, 4), 8.0), clf.n_rules_
    base = clf.inner.trained_model.trained()
    parent = base.nearest_rule(x[0])
    printed = float((base.weights(parent).T @ np.append(x[0], 1.0))[0])
    clf.partial_fit(x, np.ones((1, 2)))
    own = float(clf.decision_function(x)[0, 0])
    return Finding(
        {"printed": printed, "own": own, "born": clf.n_rules_ - before},
        f"A sample with label 1 starts a rule among samples that mostly have label 0: right afterwards the answer at "
        f"this very sample is {printed:.2f} if it is not learned and {own:.2f} if it is.",
    )
