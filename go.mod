module github.com/dlpackgo/dlpackgo

go 1.25.0
