package main

import (
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
)

// element decodes an element of Fr, big-endian.
func element(bytes []byte) (fr.Element, error) {
	var a fr.Element
	return a, a.SetBytesCanonical(bytes)
}

// elements decodes elements of Fr, one after the other.
func elements(bytes []byte) ([]fr.Element, error) {
	if len(bytes)%fr.Bytes != 0 {
		return nil, fmt.Errorf("%d bytes are not a list of elements", len(bytes))
	}
	list := make([]fr.Element, 0, len(bytes)/fr.Bytes)
	for ; len(bytes) > 0; bytes = bytes[fr.Bytes:] {
		a, err := element(bytes[:fr.Bytes])
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// elementsOf decodes a list of elements in a parameter, if there is one.
func elementsOf(o order, name string) ([]fr.Element, error) {
	bytes, _, err := o.bytes(name)
	if err != nil {
		return nil, err
	}
	return elements(bytes)
}

// scalars returns the job of an operation in the scalar field.
func scalars(name string, o order) (*job, error) {
	second, err := elementsOf(o, "second")
	if err != nil {
		return nil, err
	}
	var a []fr.Element
	var c fr.Element
	load := func(data []byte) (err error) {
		a, err = elements(data)
		if err == nil && len(a) == 0 {
			err = errors.New("there is no element")
		}
		return
	}
	of := func(function string, compute func()) *job {
		return &job{
			function: function,
			load:     load,
			run:      func() error { compute(); return nil },
			result:   func() []byte { bytes := c.Bytes(); return bytes[:] },
		}
	}
	switch name {
	case "multiply", "inner-product":
		if len(second) == 0 {
			return nil, errors.New("second is missing")
		}
	}
	switch name {
	case "multiply":
		return of("Element.Mul", func() { c.Mul(&a[0], &second[0]) }), nil
	case "square":
		return of("Element.Square", func() { c.Square(&a[0]) }), nil
	case "invert":
		return of("Element.Inverse", func() { c.Inverse(&a[0]) }), nil
	case "square-root":
		j := of("Element.Sqrt", nil)
		j.run = func() error {
			if c.Sqrt(&a[0]) == nil {
				return errors.New("there is no root")
			}
			return nil
		}
		return j, nil
	case "inner-product":
		return of("Vector.InnerProduct", func() { v := fr.Vector(a); c = v.InnerProduct(second) }), nil
	case "invert-many":
		return of("BatchInvert", func() { c = fr.BatchInvert(a)[0] }), nil
	case "transform":
		// The cache of a domain has the twiddle factors.
		data, err := o.required("data")
		if err != nil {
			return nil, err
		}
		n := len(data) / fr.Bytes
		domain, room := fft.NewDomain(uint64(n)), make([]fr.Element, n)
		return of("Domain.FFT, BitReverse", func() {
			copy(room, a)
			domain.FFT(room, fft.DIF, fft.WithNbTasks(1))
			fft.BitReverse(room)
			c = room[1%n]
		}), nil
	}
	return nil, errUnsupported
}
