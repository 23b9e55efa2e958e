// Reads vectors from standard input and prints which of them each library takes for genuine.
package main

import (
	"encoding/json"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	svix "github.com/svix/svix-webhooks/go"
)

type vector struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

type verifier interface {
	Verify(payload []byte, headers http.Header) error
}

func main() {
	var vectors []vector
	if err := json.NewDecoder(os.Stdin).Decode(&vectors); err != nil {
		panic(err)
	}
	taken := map[string][]string{}
	take := func(library string, one vector, webhook verifier, err error) {
		if err != nil {
			panic(err)
		}
		headers := http.Header{}
		for name, value := range one.Headers {
			headers.Set(name, value)
		}
		if webhook.Verify([]byte(one.Body), headers) == nil {
			taken[library] = append(taken[library], one.Name)
		}
	}
	for _, one := range vectors {
		standard, err := standardwebhooks.NewWebhook(one.Secret)
		take("standardwebhooks", one, standard, err)
		other, err := svix.NewWebhook(one.Secret)
		take("svix", one, other, err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(taken); err != nil {
		panic(err)
	}
}
