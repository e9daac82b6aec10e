"""Names that methods of widely used libraries have: of what is unknown they do not say whose it is."""

from __future__ import annotations

OF_PYTHON = frozenset(
    """
    all filter exclude annotate aggregate order_by distinct values values_list only defer using exists
    create get_or_create update_or_create bulk_create bulk_update in_bulk latest earliest first last one
    scalar scalars save delete refresh refresh_from_db full_clean clean validate is_valid
    is_authenticated save_m2m get_object get_queryset get_context_data get_serializer get_form dispatch
    render render_to_response form_valid form_invalid execute fetchone fetchall query commit rollback
    flush merge add_all session connect begin setup teardown run start stop join close open read write
    send recv load loads dump dumps parse parse_args add_argument submit cancel result done shutdown set
    wait acquire release put publish subscribe register unregister log debug info warning warn error
    critical exception emit handle process call apply get_data mkdir unlink resolve name now date time
    today timestamp total_seconds isoformat weekday get_name request post patch head options json text
    status_code raise_for_status get_json reset size shape show plot paginate invoke echo option command
    group callback main configure get_config connection next prev render_template on bind mount draw
    paint build make test check match search find findall sub start_span Of Python's; what its own types
    have is left out of the graph by altogether.
    """.split()
)
"""Of Django, SQLAlchemy, the standard library, test and web frameworks."""
