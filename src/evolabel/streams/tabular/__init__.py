"""Tables with named columns: data frames and CSV files."""
