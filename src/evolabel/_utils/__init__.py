"""Helpers for all packages: files, folders, texts, checks of numbers, interrupts, optional packages, lazy names."""
