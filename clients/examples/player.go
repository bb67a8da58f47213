// A whole client on gorilla/websocket, over JSON: go run player.go TOKEN ws://127.0.0.1:8000/v1/rooms/CODE ...
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

type doc = map[string]any
type list = []any

func merge(old, patch doc) doc { // P-33
	result := doc{}
	for key, value := range old {
		result[key] = value
	}
	for key, value := range patch {
		if inner, isMap := value.(doc); isMap {
			before, _ := result[key].(doc)
			result[key] = merge(before, inner)
		} else if result[key] = value; value == nil {
			delete(result, key)
		}
	}
	return result
}

func pick(offers list) doc { // P-38
	offer := offers[rand.Intn(len(offers))].(doc)
	body := doc{"command": offer["command"]}
	if choices, some := offer["choices"].(list); some {
		body = merge(body, choices[rand.Intn(len(choices))].(list)[0].(doc))
	}
	ranges, _ := offer["ranges"].(doc)
	for name, ends := range ranges {
		least, most := ends.(list)[0].(float64), ends.(list)[1].(float64)
		body[name] = least + float64(rand.Intn(int(most-least)+1))
	}
	return body
}

type player struct {
	origin  string
	cursor  list
	view    doc
	number  int
	command list // the one that is unanswered
}

func (p *player) over() bool {
	room, _ := p.view["room"].(doc)
	return room["status"] == "over"
}

// One connection: whether to come back with the cursor.
func (p *player) talk(socket *websocket.Conn) error {
	offers, tag, gameSeq, welcomed, turnedAway, again := list{}, any(""), 0.0, false, false, false
	greeting := doc{"token": os.Args[1], "level": 1, "origin": p.origin, "cursor": p.cursor}
	if p.cursor == nil {
		delete(greeting, "cursor")
	}
	socket.WriteJSON(list{"hello", greeting})
	for !p.over() {
		var message list
		if err := socket.ReadJSON(&message); err != nil {
			return err
		}
		name, rest, fault := message[0].(string), append(message[1:], nil), false
		if again = name == "welcome" || name == "reset" || name == "pong" && turnedAway; welcomed { // P-26
			fault = name == "welcome" || name == "frame" && rest[0].(float64) != p.cursor[1].(float64)+1 // P-25
		} else {
			fault = !strings.Contains(" welcome error go pong ", name)
		}
		if arrival, isMap := rest[0].(doc); isMap && name == "welcome" && arrival["view"] == nil {
			fault = fault || !reflect.DeepEqual(arrival["cursor"], any(p.cursor))
		}
		if fault {
			p.cursor = nil
			return fmt.Errorf("a fault of the server")
		}
		turnedAway = rest[0] == "too_many_unanswered" // P-44
		switch name {
		case "welcome":
			arrival := rest[0].(doc)
			if p.cursor, welcomed = arrival["cursor"].(list), true; arrival["view"] != nil {
				p.view = arrival["view"].(doc)
			}
		case "reset":
			p.cursor, p.view, offers, gameSeq = rest[0].(list), rest[1].(doc), nil, 0
		case "frame":
			cause, patch := rest[2].(list), rest[4].(doc)
			p.cursor, p.view = list{p.cursor[0], rest[0], rest[1]}, merge(p.view, patch)
			if _, isMove := patch["game"]; isMove { // P-39
				offers, gameSeq = nil, rest[0].(float64)
			}
			if len(cause) > 2 && cause[1] == p.origin && p.command != nil && cause[2] == float64(p.number) {
				p.command = nil
			}
		case "offers":
			if rest[0].(float64) >= gameSeq {
				tag, offers = rest[1], rest[2].(list)
			}
		case "seat":
			offers = nil
		case "rejected", "duplicate", "accepted":
			if rest[0] == float64(p.number) {
				p.command = nil
			}
		case "go":
			time.Sleep(time.Duration(rand.Float64()*rest[0].(float64)) * time.Millisecond)
			return nil
		}
		if len(offers) > 0 && p.command == nil {
			p.number++
			p.command, again = list{"command", p.number, tag, pick(offers)}, true
		}
		if again && p.command != nil {
			socket.WriteJSON(p.command)
		}
	}
	return nil
}

func play(url string) {
	bytes := make([]byte, 8)
	rand.Read(bytes)
	p, longest := player{origin: base64.RawURLEncoding.EncodeToString(bytes)}, 500.0
	dialer := websocket.Dialer{Subprotocols: []string{"towerhall.v1.json"}}
	for !p.over() {
		socket, _, err := dialer.Dial(url, nil)
		if err == nil {
			err = p.talk(socket)
			socket.Close()
		}
		if websocket.IsCloseError(err, 1000, 1007, 1009, 4400, 4401, 4403, 4404, 4405, 4406, 4409, 4410) {
			return // P-101
		}
		time.Sleep(time.Duration(rand.Float64()*longest) * time.Millisecond)
		if longest *= 2; longest > 30000 {
			longest = 30000
		}
	}
	shown, _ := json.Marshal(doc{"code": url[strings.LastIndex(url, "/")+1:], "view": p.view})
	fmt.Println(string(shown))
}

func main() {
	rand.Seed(time.Now().UnixNano())
	var all sync.WaitGroup
	for _, url := range os.Args[2:] {
		all.Add(1)
		go func(url string) { defer all.Done(); play(url) }(url)
	}
	all.Wait()
}
