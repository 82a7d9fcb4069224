"""The printed method's flaws: one file per part of the method, one function per flaw, which measures it."""
