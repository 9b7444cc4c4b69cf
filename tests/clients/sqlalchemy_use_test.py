"""SQLAlchemy as programs use it: reflection, the ORM, savepoints, streams, conflicts, errors, tensors."""

import os
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))

import figures  # noqa: E402
from served import Server  # noqa: E402

try:
    import sqlalchemy as sa
    from sqlalchemy import exc, orm
    from sqlalchemy.dialects import postgresql
except ImportError:
    sa = None

SCRIPT = """
CREATE TENSOR X AS EINSUM X[i 3, j 4] = CAST(i * 4 + j AS FLOAT32) / 2;
CREATE TENSOR C AS EINSUM C[i 2] = COMPLEX(i, 1);
"""

if sa is not None:
    Base = orm.declarative_base()

    class Author(Base):
        __tablename__ = "author"
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String(20), nullable=False, unique=True)
        books = orm.relationship("Book", back_populates="author", cascade="all, delete-orphan", order_by="Book.id")

    class Book(Base):
        __tablename__ = "book"
        id = sa.Column(sa.Integer, primary_key=True)
        title = sa.Column(sa.Text, comment="as printed")
        pages = sa.Column(sa.Integer, sa.CheckConstraint("pages > 0", name="some_pages"))
        about = sa.Column(sa.JSON)
        author_id = sa.Column(sa.ForeignKey("author.id", ondelete="CASCADE"), nullable=False, index=True)
        author = orm.relationship("Author", back_populates="books")


class WithEngine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if sa is None:
            figures.missing("SQLAlchemy")
        cls.server = Server(script=SCRIPT)
        cls.engine = sa.create_engine(f"postgresql+psycopg2://ada@127.0.0.1:{cls.server.port}/s", future=True)

    @classmethod
    def tearDownClass(cls):
        cls.engine.dispose()
        cls.server.close()

    def setUp(self):
        Base.metadata.drop_all(self.engine)
        Base.metadata.create_all(self.engine)

    def run_sql(self, *statements):
        with self.engine.begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement))


class Reflection(WithEngine):
    def test_inspector(self):
        inspector = sa.inspect(self.engine)
        self.assertLessEqual({"author", "book", "X", "C"}, set(inspector.get_table_names()))
        columns = {column["name"]: column for column in inspector.get_columns("book")}
        self.assertEqual(list(columns), ["id", "title", "pages", "about", "author_id"])
        self.assertFalse(columns["author_id"]["nullable"])
        self.assertTrue(columns["pages"]["nullable"])
        self.assertEqual(columns["title"]["comment"], "as printed")
        self.assertEqual(inspector.get_pk_constraint("book"), {"constrained_columns": ["id"], "name": "book_pkey"})
        self.assertEqual(
            inspector.get_foreign_keys("book"),
            [{"name": "book_author_id_fkey", "constrained_columns": ["author_id"], "referred_schema": None,
              "referred_table": "author", "referred_columns": ["id"], "options": {"ondelete": "CASCADE"}}],
        )  # fmt: skip
        self.assertEqual([index["name"] for index in inspector.get_indexes("book")], ["ix_book_author_id"])
        checks = inspector.get_check_constraints("book")
        self.assertEqual(checks, [{"name": "some_pages", "sqltext": "pages > 0"}])
        self.assertTrue(inspector.has_table("book"))
        self.assertFalse(inspector.has_table("missing"))

    def test_reflected_tables_are_used(self):
        metadata = sa.MetaData()
        metadata.reflect(self.engine)
        author = metadata.tables["author"]
        book = sa.Table("book", sa.MetaData(), autoload_with=self.engine)
        with self.engine.begin() as connection:
            connection.execute(author.insert(), [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}])
            connection.execute(book.insert(), {"id": 5, "title": "x", "author_id": 2})
            joined = sa.select(author.c.name).join(book, book.c.author_id == author.c.id)
            self.assertEqual(connection.execute(joined).scalars().all(), ["Bob"])

    def test_a_view_and_its_text(self):
        self.run_sql("CREATE VIEW long_books AS SELECT title FROM book WHERE pages > 500")
        self.addCleanup(self.run_sql, "DROP VIEW long_books")
        inspector = sa.inspect(self.engine)
        self.assertEqual(inspector.get_view_names(), ["long_books"])
        self.assertIn("pages > 500", inspector.get_view_definition("long_books"))

    def test_a_tensor(self):
        tensor = sa.Table("X", sa.MetaData(), autoload_with=self.engine)
        self.assertEqual(tensor.c.keys(), ["i", "j", "val"])
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(tensor).where(tensor.c.i == 2).order_by(tensor.c.j)).all()
            self.assertEqual(rows, [(2, 0, 4.0), (2, 1, 4.5), (2, 2, 5.0), (2, 3, 5.5)])
            sums = sa.select(tensor.c.j, sa.func.sum(tensor.c.val)).group_by(tensor.c.j).order_by(tensor.c.j)
            self.assertEqual(connection.execute(sums).all(), [(0, 6.0), (1, 7.5), (2, 9.0), (3, 10.5)])
            product = connection.execute(sa.text("EINSUM Z[i] = SUM(X[i,j] * X[i,j])")).all()
            self.assertEqual(product, [(0, 3.5), (1, 31.5), (2, 91.5)])
            with self.assertRaises(exc.DBAPIError):
                connection.execute(tensor.insert(), {"i": 0, "j": 0, "val": 1})


class Orm(WithEngine):
    def test_relationships(self):
        with orm.Session(self.engine) as session:
            ada = Author(name="Ada", books=[Book(title="A", pages=10, about={"n": [1, 2]}), Book(title="B", pages=20)])
            session.add_all([ada, Author(name="Bob")])
            session.commit()
            self.assertEqual([book.author_id for book in ada.books], [ada.id, ada.id])
        with orm.Session(self.engine) as session:
            found = session.scalars(
                sa.select(Author).options(orm.joinedload(Author.books)).order_by(Author.name)
            ).unique().all()  # fmt: skip
            self.assertEqual([(a.name, [b.title for b in a.books]) for a in found], [("Ada", ["A", "B"]), ("Bob", [])])
            found[0].books[0].pages = 11
            del found[0].books[1]
            session.commit()
            self.assertEqual(session.execute(sa.select(Book.title, Book.pages)).all(), [("A", 11)])
            pages = sa.select(Author.name, sa.func.coalesce(sa.func.sum(Book.pages), 0)).outerjoin(Author.books)
            self.assertEqual(session.execute(pages.group_by(Author.name).order_by(Author.name)).all(),
                             [("Ada", 11), ("Bob", 0)])  # fmt: skip
            session.delete(found[0])
            session.commit()
            self.assertEqual(session.scalar(sa.select(sa.func.count()).select_from(Book)), 0)

    def test_begin_nested(self):
        with orm.Session(self.engine) as session:
            session.add(Author(name="Ada"))
            session.flush()
            with self.assertRaises(exc.IntegrityError):
                with session.begin_nested():
                    session.add(Author(name="Ada"))
                    session.flush()
            with session.begin_nested():
                session.add(Author(name="Bob"))
            session.commit()
            self.assertEqual(session.scalars(sa.select(Author.name).order_by(Author.name)).all(), ["Ada", "Bob"])

    def test_streams(self):
        with orm.Session(self.engine) as session:
            session.add_all(Author(name=f"a{n:04}") for n in range(2500))
            session.commit()
            stream = session.execute(sa.select(Author.name).order_by(Author.name), execution_options={"stream_results": True})
            self.assertEqual(stream.fetchmany(2), [("a0000",), ("a0001",)])
            stream.close()
            names = [a.name for a in session.scalars(sa.select(Author).order_by(Author.id)).yield_per(100)]
            self.assertEqual((len(names), names[-1]), (2500, "a2499"))

    def test_bulk_and_returning(self):
        with self.engine.begin() as connection:
            inserted = connection.execute(sa.insert(Author).returning(Author.id, Author.name), [{"name": "Ada"}])
            self.assertEqual(inserted.all(), [(1, "Ada")])
            changed = connection.execute(sa.update(Author).values(name="Eva").returning(Author.name))
            self.assertEqual(changed.all(), [("Eva",)])
            self.assertEqual(connection.execute(sa.delete(Author)).rowcount, 1)

    def test_on_conflict(self):
        insert = postgresql.insert(Author).values(id=1, name="Ada")
        with self.engine.begin() as connection:
            connection.execute(insert)
            connection.execute(insert.on_conflict_do_nothing())
            connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_={"name": "Eva"}))
            self.assertEqual(connection.execute(sa.select(Author.name)).all(), [("Eva",)])


class Errors(WithEngine):
    def check(self, kind, sqlstate, statement):
        with self.engine.connect() as connection:
            with self.assertRaises(kind, msg=statement) as caught:
                connection.execute(sa.text(statement))
        self.assertEqual(caught.exception.orig.pgcode, sqlstate, statement)

    def test_classes_and_codes(self):
        self.run_sql("INSERT INTO author (id, name) VALUES (1, 'Ada')")
        for kind, sqlstate, statement in (
            (exc.IntegrityError, "23505", "INSERT INTO author (id, name) VALUES (1, 'Bob')"),
            (exc.IntegrityError, "23505", "INSERT INTO author (name) VALUES ('Ada')"),
            (exc.IntegrityError, "23502", "INSERT INTO author (name) VALUES (NULL)"),
            (exc.IntegrityError, "23503", "INSERT INTO book (title, author_id) VALUES ('x', 99)"),
            (exc.IntegrityError, "23514", "INSERT INTO book (title, pages, author_id) VALUES ('x', 0, 1)"),
            (exc.ProgrammingError, "42P01", "SELECT * FROM missing"),
            (exc.ProgrammingError, "42P01", "DROP TABLE missing"),
            (exc.ProgrammingError, "42P01", "INSERT INTO missing VALUES (1)"),
            (exc.ProgrammingError, "42703", "SELECT missing FROM author"),
            (exc.ProgrammingError, "42883", "SELECT missing(1)"),
            (exc.ProgrammingError, "42601", "SELEC 1"),
            (exc.ProgrammingError, "42601", "SELECT FROM WHERE"),
            (exc.ProgrammingError, "42P07", "CREATE TABLE author (id int)"),
            (exc.DataError, "22012", "SELECT 1 / 0"),
            (exc.DataError, "22P02", "SELECT 'x'::int"),
            (exc.DataError, "22001", "INSERT INTO author (name) VALUES ('longer than twenty characters')"),
            (exc.NotSupportedError, "0A000", "CREATE SCHEMA other"),
            (exc.NotSupportedError, "0A000", "CREATE SEQUENCE numbers"),
        ):
            self.check(kind, sqlstate, statement)

    def test_a_failed_transaction_says_so(self):
        with self.engine.connect() as connection:
            with self.assertRaises(exc.ProgrammingError):
                connection.execute(sa.text("SELECT * FROM missing"))
            with self.assertRaises(exc.InternalError):
                connection.execute(sa.text("SELECT 1"))
            connection.rollback()
            self.assertEqual(connection.execute(sa.text("SELECT 1")).scalar(), 1)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if sa is not None:
        broken = len(result.failures) + len(result.errors)
        figures.note("SQLAlchemy ORM", sa.__version__, passed=result.testsRun - broken, failed=broken)
    sys.exit(not result.wasSuccessful())
