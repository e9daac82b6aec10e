"""Methods that JavaScript's own objects have: a call of one says nothing about whose it is."""

from __future__ import annotations

BUILT_IN = frozenset(
    (
        # of arrays, strings, maps, sets, promises, functions, dates and regular expressions
        "add all allSettled any apply at bind call catch charAt charCodeAt clear codePointAt concat "
        "copyWithin defineProperty delete endsWith entries every exec fill filter finally find findIndex "
        "findLast flat flatMap forEach format freeze from get getDate getFullYear getTime has "
        "hasOwnProperty includes indexOf isArray join keys lastIndexOf localeCompare map match matchAll "
        "next normalize now of padEnd padStart parse pop push race raw reduce reduceRight reject repeat "
        "replace replaceAll resolve return reverse search set shift slice some sort splice split startsWith "
        "stringify substr substring test then throw toFixed toISOString toJSON toLowerCase toString "
        "toUpperCase trim trimEnd trimStart unshift valueOf values "
        # of event emitters, streams, buffers, servers, the console and the document
        "abort addEventListener addListener alloc append appendChild assert assign cancel clone close "
        "connect contains createElement cwd debug destroy dispatchEvent emit end error exit flush "
        "getAttribute getItem group info json kill listen listeners log off on once open pause pipe prepend "
        "prependListener query querySelector read readFile remove removeAllListeners removeChild "
        "removeEventListener removeListener request reset resume send setAttribute setHeader setItem start "
        "stop text time trace warn write writeFile "
    ).split()
)
"""Names of methods in ECMAScript's standard library, and of Node.js's and browsers' commonest objects."""
