package sqlstore

import (
	"errors"
	"reflect"
)

// The types of drivers' errors are not known here, since the driver is the user's. What they have in common is: a
// method or a field of a certain name, that holds the number or the state that the database gave.

// sqlState returns the five characters by which SQL databases tell errors apart. Drivers for PostgreSQL offer them.
func sqlState(err error) string {
	var stated interface{ SQLState() string }
	if errors.As(err, &stated) {
		return stated.SQLState()
	}
	return ""
}

// errorCode returns what the error's method Code returns, or else the number in the first of the fields that it has.
func errorCode(err error, fields ...string) (code int64, ok bool) {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return int64(coded.Code()), true
	}
	for ; err != nil; err = errors.Unwrap(err) {
		value := reflect.Indirect(reflect.ValueOf(err))
		if value.Kind() != reflect.Struct {
			continue
		}
		for _, name := range fields {
			if code, ok := integer(value.FieldByName(name)); ok {
				return code, true
			}
		}
	}
	return 0, false
}

func integer(value reflect.Value) (int64, bool) {
	switch {
	case !value.IsValid():
	case value.CanInt():
		return value.Int(), true
	case value.CanUint():
		return int64(value.Uint()), true
	}
	return 0, false
}
