"""Names that languages and their libraries have: a call of one says nothing about whose it is."""

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

OF_TYPES = frozenset(
    (
        "all also any append apply associate average chunked clear close compactMap compareTo contains "
        "containsKey copyInto count distinct drop dropLast elementAt endsWith enumerated equals expand "
        "filter filterNot find first firstIndex firstOrNull firstWhere flatMap fold followedBy forEach "
        "format get getOrDefault getOrElse getOrNull getOrPut getValue groupBy hash hashCode hasPrefix "
        "hasSuffix indexOf indexWhere indices insert isBlank isEmpty isNotBlank isNotEmpty isNullOrBlank "
        "isNullOrEmpty iterator joined joinToString keys last lastIndexOf lastOrNull let lines lowercase "
        "lowercased map mapNotNull mapValues max maxBy min minBy minus none onEach padStart partition "
        "plus plusAssign prefix prepend putIfAbsent readBytes readText reduce remove removeAll "
        "removeFirst removeLast removeWhere replace reversed run set setValue shuffled single "
        "singleOrNull skip slice sort sortBy sorted sortedBy split startsWith sublist subList substring "
        "suffix sum sumOf swapAt take takeIf takeLast takeUnless then to toArray toInt toList toLong "
        "toLowerCase toMap toMutableList toSet toString toUpperCase trim trimmingCharacters until update "
        "uppercase uppercased use values where whereType with withIndex writeText zip"
    ).split()
)
"""Names of what the standard libraries of Kotlin, Swift and Dart do with collections, text and streams."""

OF_RUBY = frozenset(
    (
        "as_json backtrace_locations class_eval const_get define_method delete_all delete_if destroy_all "
        "each_char each_cons each_index each_key each_line each_pair each_slice each_value each_with_index "
        "each_with_object find_all find_by find_each find_or_create_by flat_map group_by has_key? "
        "instance_eval instance_of? instance_variable_get instance_variable_set is_a? kind_of? max_by "
        "method_missing min_by public_send read_attribute respond_to? sort_by start_with? end_with? sum_by "
        "to_a to_f to_h to_hash to_i to_json to_param to_proc to_query to_r to_s to_str to_sym to_time "
        "to_xml update_all update_attribute update_attributes update_column update_columns write_attribute"
    ).split()
)
"""Names with ``_`` of Ruby's core, ActiveSupport and ActiveRecord."""

QUERYING = frozenset(
    (
        "all distinct eager_load group having includes joins left_joins left_outer_joins limit lock merge"
        " none not offset or order preload readonly references reorder reverse_order select unscoped unscope"
        " where"
    ).split()
)
"""ActiveRecord's methods of a class that give a query, of which its scopes can be asked."""

FINDING = frozenset(
    (
        "build create create! create_or_find_by create_or_find_by! find find_by find_by! find_or_create_by "
        "find_or_create_by! find_or_initialize_by first first! last last! sole take take!"
    ).split()
)
"""And those that give one of it."""

OF_ELIXIR = frozenset(
    (
        "Access Agent Application Atom Base Bitwise Calendar Code Date DateTime Duration DynamicSupervisor "
        "Enum Exception File Float Function GenServer IO Inspect Integer Kernel Keyword List Logger Macro "
        "Map MapSet Module NaiveDateTime Node OptionParser Path Port Process Protocol Range Record Regex "
        "Registry Stream String StringIO Supervisor System Task Time Tuple URI Version"
    ).split()
)
"""Elixir's own modules at the top."""

OUTER_ROOTS = frozenset("Microsoft System android androidx java javax kotlin kotlinx".split())
"""First names of what is never the project's own, of C#, Java and Kotlin."""
