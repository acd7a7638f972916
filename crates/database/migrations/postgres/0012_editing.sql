-- The editing agent: the session in which a persona is edited, and the persona that a session edits.
ALTER TABLE persona_state ADD COLUMN editing_session uuid;
ALTER TABLE sessions ADD COLUMN edits text;
