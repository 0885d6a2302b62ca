"""Greets somebody."""

from kindgi import tool
from pydantic import BaseModel, Field


class Person(BaseModel):
    name: str = Field(min_length=1)


class Greeting(BaseModel):
    greeting: str


@tool(id="PACK_ID.hello", version="0.1.0")
def hello(person: Person) -> Greeting:
    "Greets somebody by name."
    return Greeting(greeting=f"Hello, {person.name}!")
