"""ARFF files, with the label files of MULAN and MEKA."""
