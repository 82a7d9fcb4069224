"""ARFF files, with the label files of MULAN and the label option of MEKA."""
