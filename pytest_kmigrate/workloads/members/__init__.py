"""Members of a consumer group under test: commands of any language that print the lines of one contract."""
