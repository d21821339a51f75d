// gnark-crypto as a peer of Cycloid's benchmarks: a process performs one operation repeatedly, and
// reports its time. docs/runners.md specifies the lines.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// errUnsupported is returned for an operation that gnark-crypto lacks.
var errUnsupported = errors.New("gnark-crypto does not have the operation")

// A job is an operation with its parameters, ready to run.
type job struct {
	// function is the called function.
	function string
	// note says what a reader must know about the numbers.
	note string
	// load decodes the input of the next runs, before the clock starts.
	load func(data []byte) error
	// run performs the operation once.
	run func() error
	// result encodes the result of the last run, after the clock has stopped.
	result func() []byte
}

// An order is a line of the protocol: an operation with its parameters, or a batch of runs.
type order struct {
	members map[string]any
}

// bytes returns a member in hexadecimal, and whether there is one.
func (o order) bytes(name string) ([]byte, bool, error) {
	text, is := o.members[name].(string)
	if !is {
		return nil, false, nil
	}
	bytes, err := hex.DecodeString(text)
	return bytes, true, err
}

// required returns a member in hexadecimal.
func (o order) required(name string) ([]byte, error) {
	bytes, is, err := o.bytes(name)
	if err == nil && !is {
		err = fmt.Errorf("%s is missing", name)
	}
	return bytes, err
}

// text returns a member as it is, or an empty string.
func (o order) text(name string) string {
	text, _ := o.members[name].(string)
	return text
}

// number returns a member that is a number, or 0.
func (o order) number(name string) int {
	number, _ := o.members[name].(float64)
	return int(number)
}

// clock returns the processor time of this process in nanoseconds. It includes the garbage collector
// and the threads that the Go runtime may move a computation to.
func clock() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

// allocated returns the bytes allocated on the heap so far.
func allocated() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.TotalAlloc
}

// batch performs the runs of an order, and returns the response.
func batch(j *job, o order) (map[string]any, error) {
	data, is, err := o.bytes("data")
	if err != nil {
		return nil, err
	}
	if is {
		if err := j.load(data); err != nil {
			return nil, err
		}
	}
	bytes, start := allocated(), clock()
	for range o.number("runs") {
		if err := j.run(); err != nil {
			return nil, err
		}
	}
	nanoseconds := clock() - start
	return map[string]any{
		"nanoseconds":     nanoseconds,
		"allocated_bytes": allocated() - bytes,
		"result":          hex.EncodeToString(j.result()),
	}, nil
}

// ready prepares the operation of the first line, and returns the response.
func ready(o order) (*job, map[string]any, error) {
	if o.number("way") > 0 {
		return nil, nil, errUnsupported
	}
	j, err := prepare(o)
	if err != nil {
		return nil, nil, err
	}
	data, _, err := o.bytes("data")
	if err == nil {
		err = j.load(data)
	}
	if err != nil {
		return nil, nil, err
	}
	return j, map[string]any{
		"label":         "",
		"function":      j.function,
		"constant_time": false,
		"note":          j.note,
	}, nil
}

func main() {
	runtime.GOMAXPROCS(1)
	lines := bufio.NewReaderSize(os.Stdin, 1<<16)
	read := func() (order, bool) {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return order{}, false
		}
		var o order
		if err := json.Unmarshal(line, &o.members); err != nil {
			return order{}, false
		}
		return o, true
	}
	say := func(response map[string]any) {
		line, err := json.Marshal(response)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
	failed := func(err error) { say(map[string]any{"failed": err.Error()}) }

	first, is := read()
	if !is {
		return
	}
	j, response, err := ready(first)
	switch {
	case errors.Is(err, errUnsupported):
		say(map[string]any{"unsupported": err.Error()})
		return
	case err != nil:
		failed(err)
		return
	}
	say(response)
	for {
		next, is := read()
		if !is {
			return
		}
		response, err := batch(j, next)
		if err != nil {
			failed(err)
			continue
		}
		say(response)
	}
}
