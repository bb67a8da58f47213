/** A step of the playground as a program in three languages. Each one runs as it is, and prints all messages as they come. */
import type { Cursor } from "towerhall-client";

export const LANGUAGES = ["python", "javascript", "go"] as const;
export type ProgramLanguage = (typeof LANGUAGES)[number];

export interface Step {
  /** The WebSocket address of the room. */
  url: string;
  token: string;
  level: number;
  cursor: Cursor | null;
  /** What is sent after the welcome; null: nothing. */
  message: unknown;
}

export function program(language: ProgramLanguage, step: Step): string {
  const greeting: Record<string, unknown> = { token: step.token, level: step.level };
  if (step.cursor) greeting["cursor"] = step.cursor;
  const sent = step.message === null ? [] : [step.message];
  return MAKERS[language](step.url, greeting, sent);
}

const MAKERS: Record<ProgramLanguage, (url: string, greeting: object, sent: unknown[]) => string> = {
  python: (url, greeting, sent) => `# pip install websockets
import asyncio
import json
import secrets

from websockets.asyncio.client import connect

URL = ${python(url)}
GREETING = ${python(greeting)}
MESSAGES = ${python(sent)}


async def main() -> None:
    async with connect(URL, subprotocols=["towerhall.v1.json"]) as socket:
        greeting = GREETING | {"origin": secrets.token_urlsafe(8)}
        await socket.send(json.dumps(["hello", greeting]))
        async for text in socket:
            print(text, flush=True)
            if json.loads(text)[0] == "welcome":
                for message in MESSAGES:
                    await socket.send(json.dumps(message))


asyncio.run(main())
`,
  javascript: (url, greeting, sent) => `// node 22 or newer; before that also: npm install ws
import { randomBytes } from "node:crypto";

const { WebSocket = (await import("ws")).default } = globalThis;
const URL = ${JSON.stringify(url)};
const GREETING = ${JSON.stringify(greeting)};
const MESSAGES = ${JSON.stringify(sent)};

const socket = new WebSocket(URL, ["towerhall.v1.json"]);
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = () => send(["hello", { ...GREETING, origin: randomBytes(8).toString("base64url") }]);
socket.onmessage = ({ data }) => {
  console.log(data);
  if (JSON.parse(data)[0] === "welcome") MESSAGES.forEach(send);
};
`,
  go: (url, greeting, sent) => `// apt-get install golang-github-gorilla-websocket-dev, or: go get github.com/gorilla/websocket
package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/gorilla/websocket"
)

const (
	url      = ${JSON.stringify(url)}
	greeting = ${JSON.stringify(JSON.stringify(greeting))}
	messages = ${JSON.stringify(JSON.stringify(sent))}
)

func main() {
	var hello map[string]any
	var sent, received []any
	json.Unmarshal([]byte(greeting), &hello)
	json.Unmarshal([]byte(messages), &sent)
	origin := make([]byte, 8)
	rand.Read(origin)
	hello["origin"] = base64.RawURLEncoding.EncodeToString(origin)
	dialer := websocket.Dialer{Subprotocols: []string{"towerhall.v1.json"}}
	socket, _, err := dialer.Dial(url, nil)
	if err != nil {
		panic(err)
	}
	socket.WriteJSON([]any{"hello", hello})
	for {
		_, text, err := socket.ReadMessage()
		if err != nil {
			return
		}
		fmt.Println(string(text))
		if json.Unmarshal(text, &received); received[0] == "welcome" {
			for _, message := range sent {
				socket.WriteJSON(message)
			}
		}
	}
}
`,
};

/** A document as Python spells it. */
function python(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item)}`).join(", ")}}`;
}
