package main

import (
	"fmt"
	"strings"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// prepare returns the job of an operation.
func prepare(o order) (*job, error) {
	operation := o.text("operation")
	if name, is := strings.CutPrefix(operation, "bls-fr-"); is {
		return scalars(name, o)
	}
	switch operation {
	case "bls-miller-loop", "bls-final-exponentiation", "bls-pairing":
		return pairings(operation, o)
	}
	name, is := strings.CutPrefix(operation, "bls-")
	if !is {
		return nil, errUnsupported
	}
	switch o.text("group") {
	case "G1":
		return points(&first, name, o)
	case "G2":
		return points(&second, name, o)
	}
	return nil, errUnsupported
}

// nothing is the load function of operations whose input is in their parameters.
func nothing([]byte) error { return nil }

// pairings returns the job of a pairing or a part of it. Results are members of the target group.
func pairings(operation string, o order) (*job, error) {
	p, err := list(&first, o, "p")
	if err != nil {
		return nil, err
	}
	q, err := list(&second, o, "q")
	if err != nil {
		return nil, err
	}
	if len(p) != len(q) {
		return nil, fmt.Errorf("%d points in G1 and %d in G2", len(p), len(q))
	}
	var value bls.GT
	switch operation {
	case "bls-miller-loop":
		return &job{
			function: "MillerLoop",
			load:     nothing,
			run:      func() (err error) { value, err = bls.MillerLoop(p, q); return },
			result:   func() []byte { member := bls.FinalExponentiation(&value); return target(&member) },
		}, nil
	case "bls-final-exponentiation":
		raw, err := bls.MillerLoop(p, q)
		if err != nil {
			return nil, err
		}
		return &job{
			function: "FinalExponentiation",
			load:     nothing,
			run:      func() error { value = bls.FinalExponentiation(&raw); return nil },
			result:   func() []byte { return target(&value) },
		}, nil
	}
	return &job{
		function: "Pair",
		load:     nothing,
		run:      func() (err error) { value, err = bls.Pair(p, q); return },
		result:   func() []byte { return target(&value) },
	}, nil
}

// target encodes a member of the target group: its twelve coordinates, each big-endian, in the
// order of the tower from C0.B0.A0 to C1.B2.A1.
func target(member *bls.GT) []byte {
	var bytes []byte
	for _, six := range []*bls.E6{&member.C0, &member.C1} {
		for _, two := range []*bls.E2{&six.B0, &six.B1, &six.B2} {
			a0, a1 := two.A0.Bytes(), two.A1.Bytes()
			bytes = append(append(bytes, a0[:]...), a1[:]...)
		}
	}
	return bytes
}
