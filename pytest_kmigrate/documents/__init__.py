"""One folder for each document one can certify against."""
