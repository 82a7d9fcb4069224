"""Compiled loops: answers, ring, trials, edges, gate, turns of maintenance."""
