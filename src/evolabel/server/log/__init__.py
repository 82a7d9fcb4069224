"""Tables, the log of each project with its chain, snapshots, and the one connection that writes."""
