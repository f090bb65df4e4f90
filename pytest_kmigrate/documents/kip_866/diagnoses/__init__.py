"""Known bugs of Kafka, one or one family a file: the evidence by which each is recognized behind a violation.

A diagnosis looks for what its bug leaves and no other defect does, and explains a verdict only if everything that the
verdict found is what the bug does. Most read the nodes' logs, where an exception or a line names the code that failed.
"""
