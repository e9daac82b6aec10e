"""Words and their usual abbreviations in code. Pure data."""

from __future__ import annotations

from collections.abc import Mapping

from gitrag.words.stems import stem

_GROUPS = """
    admin administrator administration
    alloc allocate allocation allocator
    app application
    arg argument
    attr attribute
    auth authentication authorization
    authn authentication
    authz authorization
    avg average
    bg background
    btn button
    buf buffer
    calc calculate calculation
    cb callback
    cert certificate
    cfg conf config configuration
    cmd command
    cmp compare comparison
    col column
    concat concatenate concatenation
    cond condition
    conn connection
    const constant
    coord coordinate
    creds credentials
    ctx context
    db database
    deps dependencies
    desc description
    dest dst destination
    dev development
    diff difference
    dir directory
    doc documentation document
    elem element
    env environment
    err error
    eval evaluate evaluation
    exec execute execution
    expr expression
    ext extension
    fmt format
    fn func function
    gc garbage
    gen generate generation generator
    hdr header
    i18n internationalization
    id identifier
    idx index
    img image
    impl implementation
    info information
    init initialize initialization
    iter iterator iteration
    k8s kubernetes
    l10n localization
    len length
    lib library
    loc location
    max maximum
    mem memory
    mgr manager
    min minimum
    mid middle
    msg message
    mux multiplexer
    num number
    obj object
    op operation operator
    opt option
    org organization
    param parameter
    perf performance
    perm permission
    pg postgres postgresql
    pkg package
    pos position
    pref preference
    prev previous
    proc process procedure
    prod production
    prop property
    pwd passwd password
    recv receive
    ref reference
    regex regexp
    repo repository
    req request
    res resp response
    sched schedule scheduler
    sep separator
    sess session
    spec specification
    src source
    stats statistics
    str string
    sub subscribe subscription
    svc service
    sync synchronize synchronization
    temp tmp temporary
    tx txn transaction
    tz timezone
    util utility
    val value
    var variable
    ver version
    ws websocket
"""


def _table() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        forms = [stem(word) for word in line.split()]
        for form in forms:
            found.setdefault(form, {}).update(dict.fromkeys(other for other in forms if other != form))
    return {form: tuple(others) for form, others in found.items()}


OTHER_FORMS: Mapping[str, tuple[str, ...]] = _table()
"""For the stem of a word or of an abbreviation those of its other forms."""
