"""Row kernels of the members that follow drift, of their mixer and of the alarm."""
