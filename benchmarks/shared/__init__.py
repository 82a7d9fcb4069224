"""What several benchmarks share: data sets, random draws, commits side by side, the files of results."""
