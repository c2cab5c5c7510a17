// Package zerovalue is for tests of what a package does with nothing: zero values, and nil.
package zerovalue

import (
	"reflect"
	"slices"
	"testing"
)

// CallMethods calls every method of value but those left out, with zero values for arguments, and fails if one panics. What
// comes back is shown to check, unless that is nil.
func CallMethods(t *testing.T, value any, check func(t *testing.T, results []reflect.Value), without ...string) {
	receiver := reflect.ValueOf(value)
	for i := range receiver.NumMethod() {
		name, method := receiver.Type().Method(i).Name, receiver.Method(i)
		if slices.Contains(without, name) {
			continue
		}
		t.Run(receiver.Type().String()+"."+name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panics: %v", r)
				}
			}()
			arguments := make([]reflect.Value, 0, method.Type().NumIn())
			for i := range method.Type().NumIn() {
				arguments = append(arguments, reflect.Zero(method.Type().In(i)))
			}
			call := method.Call
			if method.Type().IsVariadic() {
				call = method.CallSlice
			}
			results := call(arguments)
			if check != nil {
				check(t, results)
			}
		})
	}
}
