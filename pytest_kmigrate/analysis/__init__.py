"""Many runs at once: staging, facts and marts in PySpark; DataFrame in, DataFrame out. No session, no files."""
