"""Tables of SQLAlchemy and peewee."""

from __future__ import annotations

from typing import List

try:
    from sqlalchemy import ForeignKey
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

    class Base(DeclarativeBase):
        pass

    class User(Base):
        __tablename__ = "users"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]
        addresses: Mapped[List[Address]] = relationship(back_populates="user")

    class Address(Base):
        __tablename__ = "addresses"
        id: Mapped[int] = mapped_column(primary_key=True)
        email: Mapped[str]
        user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
        user: Mapped[User] = relationship(back_populates="addresses")
except ImportError:
    pass

try:
    import peewee

    class Person(peewee.Model):
        name = peewee.CharField()
except ImportError:
    pass
