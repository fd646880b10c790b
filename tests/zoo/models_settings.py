"""A class of settings."""

from __future__ import annotations

from pydantic_settings import BaseSettings


class Settings(BaseSettings):
    name: str = "n"
    size: int = 3
