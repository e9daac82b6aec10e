"""A function that is declared before it is defined, and one that is only declared."""

from __future__ import annotations

PYTHON_OVERLOADS = """\
class C:
    @overload
    def f(self, a: int) -> int: ...

    @t.overload
    def f(self, a: str) -> str: ...

    def f(self, a):
        \"\"\"Do it.\"\"\"
        return a

    @typing.overload
    def g(self, a: int) -> int: ...
"""
TYPESCRIPT_OVERLOADS = """\
export function f(
  a: string,
): string;
export function f(
  a: number,
): number;
/** Do it. */
export function f(a: any): any {
  return a;
}
declare function g(
  a: string,
): string;
"""
C_PROTOTYPES = """\
static int
f(int a,
  int b);

extern int
g(int a,
  int b);

/* Do it. */
static int f(int a, int b)
{
    return a + b;
}
"""
