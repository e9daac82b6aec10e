// Prints the functions of Go files, and what they name without calling it, as rows that `truth.py` reads.
//
//	go run go_functions.go ROOT < FILES
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		path := lines.Text()
		if path == "" {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(os.Args[1], path), nil, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		fmt.Fprintf(out, "P\t%s\n", path)
		line := func(at token.Pos) int { return set.Position(at).Line }
		for _, each := range file.Decls {
			function, ok := each.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			place := fmt.Sprintf("%s\t%d\t%s", path, line(function.Name.Pos()), function.Name.Name)
			fmt.Fprintf(out, "F\t%s\t%d\tfunction\n", place, line(function.End()))
			called := map[*ast.Ident]bool{}
			ast.Inspect(function.Body, func(node ast.Node) bool {
				switch found := node.(type) {
				case *ast.CallExpr:
					switch callee := found.Fun.(type) {
					case *ast.Ident:
						called[callee] = true
					case *ast.SelectorExpr:
						called[callee.Sel] = true
					}
				case *ast.Ident:
					if !called[found] {
						fmt.Fprintf(out, "U\t%s\t%s\n", place, found.Name)
					}
				}
				return true
			})
		}
	}
}
