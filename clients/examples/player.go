// A whole client over JSON: go run player.go TOKEN ws://127.0.0.1:8000/v1/rooms/CODE. An `if` may stand on one line here.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

type doc = map[string]any
type list = []any

func merge(old any, patch doc) doc { // P-33
	result, isMap := old.(doc)
	if !isMap { result = doc{} }
	for key, value := range patch {
		if inner, isMap := value.(doc); isMap { value = merge(result[key], inner) }
		if result[key] = value; value == nil { delete(result, key) }
	}
	return result
}

func pick(offers list) doc { // P-38: of each range its first number or its last
	offer := offers[rand.Intn(len(offers))].(doc)
	body, choices, ranges := doc{"command": offer["command"]}, offer["choices"], merge(offer["ranges"], nil)
	if some, has := choices.(list); has { merge(body, some[rand.Intn(len(some))].(list)[0].(doc)) }
	for name, ends := range ranges { body[name] = ends.(list)[rand.Intn(2)] }
	return body
}

func main() {
	bytes, view, cursor, command, number, longest := make([]byte, 8), doc{}, list(nil), list(nil), 0.0, 500
	rand.Seed(time.Now().UnixNano())
	rand.Read(bytes)
	origin, dialer := base64.RawURLEncoding.EncodeToString(bytes), websocket.Dialer{Subprotocols: []string{"towerhall.v1.json"}}
	greeting := doc{"token": os.Args[1], "level": 1, "origin": origin}
	over := func() bool { return merge(view["room"], nil)["status"] == "over" }
	for ; !over(); longest = longest * 2 % 30000 { // ms before the next attempt, at most
		socket, answer, err := dialer.Dial(os.Args[2], nil)
		if err == nil { err = socket.WriteJSON(list{"hello", merge(greeting, doc{"cursor": cursor})}) }
		offers, tag, gameSeq, welcomed, turnedAway := list{}, any(""), 0.0, false, false
		for err == nil && !over() {
			var message list
			if err = socket.ReadJSON(&message); err != nil { break }
			name, rest := message[0].(string), append(message[1:], nil)
			arrival, _ := rest[0].(doc)
			fault := welcomed && (name == "welcome" || name == "frame" && rest[0] != cursor[1].(float64)+1) // P-25
			fault = fault || !welcomed && !strings.Contains("welcome error go pong", name)
			fault = fault || name == "welcome" && arrival["view"] == nil && fmt.Sprint(arrival["cursor"]) != fmt.Sprint(cursor)
			if fault { cursor = nil; socket.Close(); break }
			again, answered := name == "welcome" || name == "reset" || name == "pong" && turnedAway, any(nil) // P-26, P-44
			switch turnedAway = rest[0] == "too_many_unanswered"; name {
			case "welcome": if cursor, welcomed = arrival["cursor"].(list), true; arrival["view"] != nil { view = arrival["view"].(doc) }
			case "reset": cursor, view, offers, gameSeq = rest[0].(list), rest[1].(doc), nil, 0
			case "frame":
				cause, patch := append(rest[2].(list), nil, nil), rest[4].(doc)
				cursor, view = list{cursor[0], rest[0], rest[1]}, merge(view, patch)
				if cause[1] == origin { answered = cause[2] }
				if _, isMove := patch["game"]; isMove { offers, gameSeq = nil, rest[0].(float64) } // P-39
			case "offers": if rest[0].(float64) >= gameSeq { tag, offers = rest[1], rest[2].(list) }
			case "seat": offers = nil
			case "rejected", "duplicate", "accepted": answered = rest[0]
			case "go": time.AfterFunc(time.Duration(rand.Float64()*rest[0].(float64)*1e6), func() { socket.Close() })
			}
			if command != nil && answered == number { command = nil }
			if len(offers) > 0 && command == nil { number, again, command = number+1, true, list{"command", number + 1, tag, pick(offers)} }
			if again && command != nil { socket.WriteJSON(command) }
		}
		refused := answer != nil && answer.StatusCode/100 == 4 && answer.StatusCode != 408 && answer.StatusCode != 429 // P-101
		if refused || websocket.IsCloseError(err, 1000, 1007, 1009, 4400, 4401, 4403, 4404, 4405, 4406, 4409, 4410) { return }
		if !over() { time.Sleep(time.Duration(rand.Intn(longest)) * time.Millisecond) }
	}
	json.NewEncoder(os.Stdout).Encode(doc{"code": os.Args[2][strings.LastIndex(os.Args[2], "/")+1:], "view": view})
}
