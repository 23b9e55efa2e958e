"""Reads vectors from standard input and prints which of them each library takes for genuine."""
import json
import sys

import standardwebhooks.webhooks
import svix.webhooks

vectors = json.load(sys.stdin)
taken = {}
for name, library in {"standardwebhooks": standardwebhooks.webhooks, "svix": svix.webhooks}.items():
    taken[name] = []
    for vector in vectors:
        try:
            library.Webhook(vector["secret"]).verify(vector["body"], vector["headers"])
            taken[name].append(vector["name"])
        except library.WebhookVerificationError:
            pass
print(json.dumps(taken))
