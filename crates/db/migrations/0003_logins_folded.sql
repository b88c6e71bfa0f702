-- One login for all its spellings: capitals and composed letters make no other one.

-- Null where an older store has two people whose logins differ in this only: they go on under the exact spelling.
alter table users add column login_folded {text};

create unique index users_login_folded on users (login_folded);
