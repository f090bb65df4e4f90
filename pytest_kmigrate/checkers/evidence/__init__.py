"""What checkers share: finding moments, grouping rows, wording a violation."""
