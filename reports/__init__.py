"""Reports: what reads many run folders, lets the analysis count, and writes tables and pages."""
