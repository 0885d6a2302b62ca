"""Splits a bill between people, to the cent."""

from kindgi import tool
from pydantic import BaseModel, Field


class Bill(BaseModel):
    total_cents: int = Field(ge=0)
    people: list[str] = Field(min_length=1)


class Shares(BaseModel):
    cents: dict[str, int]


@tool(id="expenses.split", version="1.0.0")
def split(bill: Bill) -> Shares:
    "Splits a bill evenly; the first people pay the cents that are left over."
    share, left = divmod(bill.total_cents, len(bill.people))
    return Shares(cents={name: share + (1 if at < left else 0) for at, name in enumerate(bill.people)})
