"""An answer must not shout."""

from kindgi import guardrail


@guardrail(id="PACK_ID.no-shouting", check_id="PACK_ID.polite", kind="output", on_violation="block")
def polite(config: dict, trace: dict):
    output = (trace or {}).get("output") or ""
    return {"passed": False, "reason": "it is all in capitals"} if output.isupper() else {"passed": True}
