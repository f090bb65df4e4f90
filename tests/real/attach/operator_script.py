"""What hooks of an attach file call: ``operator_script.py URL WORDS...`` asks the operator, who has the cluster."""

import json
import sys
import urllib.error
import urllib.request

url, *words = sys.argv[1:]
try:
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(words).encode())) as answer:
        sys.stdout.write(answer.read().decode())
except urllib.error.HTTPError as refused:
    sys.exit(refused.read().decode())
