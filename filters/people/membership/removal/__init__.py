"""The deletion of an account by its person.

    asked ─> inactive, signed out, sources and deliveries off
          ─> task: account, filters and all else in the database ─> mail for them alone ─> complete

Each step may be repeated: a task that was killed begins again.
"""
