package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// A group has the functions of gnark-crypto for G1 or for G2: A is an affine point, J a point in
// Jacobian coordinates.
type group[A, J any] struct {
	name          string
	size          int
	generator     J
	setBytes      func(*A, []byte) (int, error)
	encode        func(*A) []byte
	fromAffine    func(*J, *A) *J
	fromJacobian  func(*A, *J) *A
	add, subtract func(*J, *J) *J
	addMixed      func(*J, *A) *J
	double        func(*J) *J
	multiply      func(*J, *J, *big.Int) *J
	multiplyBase  func(*J, *big.Int) *J
	isMember      func(*A) bool
	hash          func(message, tag []byte) (A, error)
	multiExp      func(*J, []A, []fr.Element, ecc.MultiExpConfig) (*J, error)
	manyToAffine  func([]J) []A
}

var generator1, generator2, _, _ = bls.Generators()

var first = group[bls.G1Affine, bls.G1Jac]{
	name:         "G1",
	size:         bls.SizeOfG1AffineCompressed,
	generator:    generator1,
	setBytes:     (*bls.G1Affine).SetBytes,
	encode:       func(p *bls.G1Affine) []byte { b := p.Bytes(); return b[:] },
	fromAffine:   (*bls.G1Jac).FromAffine,
	fromJacobian: (*bls.G1Affine).FromJacobian,
	add:          (*bls.G1Jac).AddAssign,
	subtract:     (*bls.G1Jac).SubAssign,
	addMixed:     (*bls.G1Jac).AddMixed,
	double:       (*bls.G1Jac).DoubleAssign,
	multiply:     (*bls.G1Jac).ScalarMultiplication,
	multiplyBase: (*bls.G1Jac).ScalarMultiplicationBase,
	isMember:     (*bls.G1Affine).IsInSubGroup,
	hash:         bls.HashToG1,
	multiExp:     (*bls.G1Jac).MultiExp,
	manyToAffine: bls.BatchJacobianToAffineG1,
}

var second = group[bls.G2Affine, bls.G2Jac]{
	name:         "G2",
	size:         bls.SizeOfG2AffineCompressed,
	generator:    generator2,
	setBytes:     (*bls.G2Affine).SetBytes,
	encode:       func(p *bls.G2Affine) []byte { b := p.Bytes(); return b[:] },
	fromAffine:   (*bls.G2Jac).FromAffine,
	fromJacobian: (*bls.G2Affine).FromJacobian,
	add:          (*bls.G2Jac).AddAssign,
	subtract:     (*bls.G2Jac).SubAssign,
	addMixed:     (*bls.G2Jac).AddMixed,
	double:       (*bls.G2Jac).DoubleAssign,
	multiply:     (*bls.G2Jac).ScalarMultiplication,
	multiplyBase: (*bls.G2Jac).ScalarMultiplicationBase,
	isMember:     (*bls.G2Affine).IsInSubGroup,
	hash:         bls.HashToG2,
	multiExp:     (*bls.G2Jac).MultiExp,
}

// unchecked decodes a compressed point without a test for membership.
func unchecked[A any](reader io.Reader) (A, error) {
	var p A
	return p, bls.NewDecoder(reader, bls.NoSubgroupChecks()).Decode(&p)
}

// decode decodes compressed points, one after the other, without a test for membership.
func decode[A, J any](g *group[A, J], data []byte) ([]A, error) {
	if len(data)%g.size != 0 {
		return nil, fmt.Errorf("%d bytes are not a list of points in %s", len(data), g.name)
	}
	list := make([]A, 0, len(data)/g.size)
	for ; len(data) > 0; data = data[g.size:] {
		p, err := unchecked[A](bytes.NewReader(data[:g.size]))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// list decodes the points of a parameter.
func list[A, J any](g *group[A, J], o order, name string) ([]A, error) {
	data, err := o.required(name)
	if err != nil {
		return nil, err
	}
	return decode(g, data)
}

// projective returns the point in coordinates whose third one is not 1.
func (g *group[A, J]) projective(p *A) J {
	var j J
	g.fromAffine(&j, p)
	g.add(&j, &g.generator)
	g.subtract(&j, &g.generator)
	return j
}

// points returns the job of an operation in G1 or G2.
func points[A, J any](g *group[A, J], name string, o order) (*job, error) {
	var data []byte
	var affine A
	var result J
	load := func(bytes []byte) error { data = bytes; return nil }
	encode := func() []byte { return g.encode(&affine) }
	encodeResult := func() []byte { g.fromJacobian(&affine, &result); return encode() }
	switch name {
	case "decompress":
		return &job{
			function: g.name + "Affine.SetBytes",
			load:     load,
			run:      func() error { _, err := g.setBytes(&affine, data); return err },
			result:   encode,
		}, nil
	case "decompress-unchecked":
		return &job{
			function: "Decoder.Decode, NoSubgroupChecks",
			load:     load,
			run:      func() (err error) { affine, err = unchecked[A](bytes.NewReader(data)); return },
			result:   encode,
		}, nil
	case "hash":
		tag, err := o.required("tag")
		if err != nil {
			return nil, err
		}
		return &job{
			function: "HashTo" + g.name,
			load:     load,
			run:      func() (err error) { affine, err = g.hash(data, tag); return },
			result:   encode,
		}, nil
	case "sum-of-multiples":
		return sum(g, o)
	case "multiply", "multiply-generator":
		return multiples(g, name, o)
	}
	return arithmetic(g, name, o, &affine, &result, encode, encodeResult)
}

// arithmetic returns the job of an operation on points in the data, the second one in a parameter.
func arithmetic[A, J any](
	g *group[A, J], name string, o order,
	affine *A, result *J, encode, encodeResult func() []byte,
) (*job, error) {
	var given []A
	var p J
	load := func(data []byte) (err error) {
		given, err = decode(g, data)
		if err == nil && len(given) == 0 {
			err = errors.New("there is no point")
		}
		if err == nil {
			p = g.projective(&given[0])
		}
		return
	}
	of := func(function string, compute func(), result func() []byte) *job {
		run := func() error { compute(); return nil }
		return &job{function: g.name + function, load: load, run: run, result: result}
	}
	switch name {
	case "add", "add-affine":
		others, err := list(g, o, "second")
		if err != nil {
			return nil, err
		}
		if len(others) != 1 {
			return nil, fmt.Errorf("%d second points", len(others))
		}
		if name == "add-affine" {
			compute := func() { *result = p; g.addMixed(result, &others[0]) }
			return of("Jac.AddMixed", compute, encodeResult), nil
		}
		q := g.projective(&others[0])
		return of("Jac.AddAssign", func() { *result = p; g.add(result, &q) }, encodeResult), nil
	case "double":
		return of("Jac.DoubleAssign", func() { *result = p; g.double(result) }, encodeResult), nil
	case "to-affine":
		return of("Affine.FromJacobian", func() { g.fromJacobian(affine, &p) }, encode), nil
	case "is-member":
		var is bool
		truth := func() []byte {
			if is {
				return []byte{1}
			}
			return []byte{0}
		}
		return of("Affine.IsInSubGroup", func() { is = g.isMember(&given[0]) }, truth), nil
	case "compress":
		var bytes []byte
		compute := func() { bytes = g.encode(&given[0]) }
		return of("Affine.Bytes", compute, func() []byte { return bytes }), nil
	}
	return nil, errUnsupported
}

// multiples returns the job of a multiplication by the scalar in the data.
func multiples[A, J any](g *group[A, J], name string, o order) (*job, error) {
	var k big.Int
	var result J
	j := &job{
		load: func(data []byte) error { k.SetBytes(data); return nil },
		result: func() []byte {
			var affine A
			g.fromJacobian(&affine, &result)
			return g.encode(&affine)
		},
	}
	if name == "multiply-generator" {
		j.function = g.name + "Jac.ScalarMultiplicationBase"
		j.run = func() error { g.multiplyBase(&result, &k); return nil }
		return j, nil
	}
	given, err := list(g, o, "point")
	if err != nil {
		return nil, err
	}
	if len(given) != 1 {
		return nil, fmt.Errorf("%d points", len(given))
	}
	p := g.projective(&given[0])
	j.function = g.name + "Jac.ScalarMultiplication"
	j.run = func() error { g.multiply(&result, &p, &k); return nil }
	return j, nil
}

// sum returns the job of a sum of multiples: points in a parameter, scalars in the data.
func sum[A, J any](g *group[A, J], o order) (*job, error) {
	given, err := list(g, o, "points")
	if err != nil {
		return nil, err
	}
	var k []fr.Element
	var result J
	return &job{
		function: g.name + "Jac.MultiExp",
		note:     "with one task",
		load:     func(data []byte) (err error) { k, err = elements(data); return },
		run: func() error {
			_, err := g.multiExp(&result, given, k, ecc.MultiExpConfig{NbTasks: 1})
			return err
		},
		result: func() []byte {
			var affine A
			g.fromJacobian(&affine, &result)
			return g.encode(&affine)
		},
	}, nil
}
