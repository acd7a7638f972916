-- What becomes of calls that need approval in the run that was begun last: it still holds when the
-- run resumes after it waited.
ALTER TABLE sessions ADD COLUMN approval_policy TEXT;
