package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
)

// block is how many elements are computed at a time: few enough that all values of a formula stay in the cache.
const block = 256

// operation computes a block of values into out. variables are the current blocks of the arrays.
type operation func(out []float64, variables [][]float64)

// Program is a compiled formula.
type Program struct {
	Variables int // how many arrays it needs
	operation operation
}

// Run computes out from columns of the same length.
func (p *Program) Run(out []float64, columns [][]float64) {
	variables := make([][]float64, len(columns))
	for start := 0; start < len(out); start += block {
		end := min(start+block, len(out))
		for i, column := range columns {
			variables[i] = column[start:end]
		}
		p.operation(out[start:end], variables)
	}
}

var (
	unary = map[string]func(float64) float64{
		"-": func(x float64) float64 { return -x }, "abs": math.Abs, "exp": math.Exp, "log": math.Log, "sqrt": math.Sqrt,
	}
	binary = map[string]func(x, y float64) float64{
		"+": func(x, y float64) float64 { return x + y }, "-": func(x, y float64) float64 { return x - y },
		"*": func(x, y float64) float64 { return x * y }, "/": func(x, y float64) float64 { return x / y },
		"max": math.Max, "min": math.Min,
	}
)

// Compile translates a formula in the syntax of Go.
func Compile(source string) (*Program, error) {
	tree, err := parser.ParseExpr(source)
	if err != nil {
		return nil, fmt.Errorf("%q is no formula: %w", source, err)
	}
	program := &Program{}
	program.operation, err = program.translate(tree)
	return program, err
}

func (p *Program) translate(tree ast.Expr) (operation, error) {
	switch node := tree.(type) {
	case *ast.ParenExpr:
		return p.translate(node.X)
	case *ast.BasicLit:
		return constant(node)
	case *ast.Ident:
		return p.variable(node.Name)
	case *ast.UnaryExpr:
		return p.apply(node.Op.String(), node.X)
	case *ast.BinaryExpr:
		return p.apply(node.Op.String(), node.X, node.Y)
	case *ast.CallExpr:
		if name, ok := node.Fun.(*ast.Ident); ok {
			return p.apply(name.Name, node.Args...)
		}
	}
	return nil, fmt.Errorf("%T has no meaning here; write numbers, a, b, c, + - * / and calls of functions", tree)
}

func constant(node *ast.BasicLit) (operation, error) {
	value, err := strconv.ParseFloat(node.Value, 64)
	if err != nil || (node.Kind != token.FLOAT && node.Kind != token.INT) {
		return nil, fmt.Errorf("%s is no number", node.Value)
	}
	return func(out []float64, _ [][]float64) {
		for i := range out {
			out[i] = value
		}
	}, nil
}

func (p *Program) variable(name string) (operation, error) {
	if len(name) != 1 || name[0] < 'a' || name[0] > 'c' {
		return nil, fmt.Errorf("%s is no variable; there are a, b and c", name)
	}
	index := int(name[0] - 'a')
	p.Variables = max(p.Variables, index+1)
	return func(out []float64, variables [][]float64) { copy(out, variables[index]) }, nil
}

func (p *Program) apply(name string, operands ...ast.Expr) (operation, error) {
	translated := make([]operation, len(operands))
	for i, operand := range operands {
		var err error
		if translated[i], err = p.translate(operand); err != nil {
			return nil, err
		}
	}
	if f, ok := unary[name]; ok && len(operands) == 1 {
		return func(out []float64, variables [][]float64) {
			translated[0](out, variables)
			for i, x := range out {
				out[i] = f(x)
			}
		}, nil
	}
	if f, ok := binary[name]; ok && len(operands) == 2 {
		return func(out []float64, variables [][]float64) {
			var right [block]float64
			y := right[:len(out)]
			translated[0](out, variables)
			translated[1](y, variables)
			for i, x := range out {
				out[i] = f(x, y[i])
			}
		}, nil
	}
	return nil, fmt.Errorf("there is no function %s of %d operands", name, len(operands))
}
