//! Agents' statements on PostgreSQL: under a login of their own, inside a query of ours, in a transaction that is
//! always taken back, stopped from outside when its time is up.

use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::TryStreamExt;
use serde_json::Value as Json;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{SimpleQueryMessage, Statement};

use super::agent_role;
use super::error::{error, pool_error};
use super::guard::guard;
use super::lex::{Piece, pieces};
use super::parameters::{Numbered, number_but};
use super::pool::{Postgres, WAIT};
use super::session::{PostgresSession, references};
use super::value::Sent;
use crate::agent_sql::answer::{Collected, Limits, SelectError, Table};
use crate::agent_sql::json;
use crate::driver::purpose::Purpose;
use crate::{DbError, Value};

/// Connections of one node for agents' statements.
const CONNECTIONS: usize = 4;
/// The server stops a statement itself, in case that we cannot.
const SPARE: Duration = Duration::from_secs(2);

/// Statements of one pool: all see the database of one moment.
pub(crate) struct PostgresReader {
    database: Arc<Postgres>,
    /// `None` after a statement whose end is not known, and after the end.
    client: Option<Object>,
}

impl PostgresReader {
    /// Begins the transaction, which the server ends itself when that much time is over.
    pub(crate) fn begin(database: &Arc<Postgres>, time: Duration) -> Result<Self, SelectError> {
        let pool = database.readers()?;
        let client = database.runtime()?.block_on(database.agent_client(&pool, time))?;
        Ok(Self { database: Arc::clone(database), client: Some(client) })
    }

    /// One statement.
    pub(crate) fn select(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        self.within(sql, params, limits, |call, client| Box::pin(call.run(client)))
    }

    /// How the server would go about a statement, in its own words.
    pub(crate) fn plan(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        let limits = Limits { time, ..Limits::default() };
        self.within(sql, params, &limits, |call, client| Box::pin(call.plan(client)))
    }

    fn within<T>(
        &mut self,
        sql: &str,
        params: &[(&str, Value)],
        limits: &Limits,
        work: impl for<'a> FnOnce(&'a Call<'a>, &'a Object) -> Work<'a, T>,
    ) -> Result<T, SelectError> {
        let guarded = guard(sql)?;
        let is_nothing =
            |name: &str| params.iter().any(|(known, value)| *known == name && *value == Value::Null);
        let numbered = number_but(guarded.sql, is_nothing);
        let values = places(guarded.sql, &numbered, params).map_err(SelectError::Parameter)?;
        let call = Call { sql: &numbered.sql, values: &values, unknown: &guarded.unknown, limits };
        let runtime = self.database.runtime()?;
        let client = self.client.take().ok_or_else(|| DbError::sql("the transaction has ended"))?;
        let (answer, client) = runtime.block_on(async {
            let cancel = client.cancel_token();
            let answer = tokio::time::timeout(limits.time, work(&call, &client))
                .await
                .unwrap_or(Err(SelectError::TooLong(limits.time)));
            // One that may still be at work must end, and nobody gets its connection.
            let is_over =
                !matches!(answer, Err(SelectError::TooLong(_) | SelectError::TooLarge | SelectError::Db(_)));
            // After a mistake nothing more is carried out until it is taken back; the moment that is seen stays.
            if !is_over || client.batch_execute("rollback to own").await.is_err() {
                drop(Object::take(client));
                let _ = tokio::time::timeout(WAIT, cancel.cancel_query(self.database.tls.clone())).await;
                return (answer, None);
            }
            (answer, Some(client))
        });
        self.client = client;
        answer
    }
}

impl Drop for PostgresReader {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let Ok(runtime) = self.database.runtime() else { return };
        runtime.block_on(async {
            if client.batch_execute("rollback").await.is_err() {
                drop(Object::take(client));
            }
        });
    }
}

type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, SelectError>> + 'a>>;

impl Postgres {
    fn runtime(&self) -> Result<&tokio::runtime::Runtime, DbError> {
        self.runtime.as_ref().ok_or_else(|| DbError::unreachable("the database is being closed"))
    }

    /// A connection with an open transaction, to a server that is no standby.
    async fn agent_client(&self, pool: &Pool, time: Duration) -> Result<Object, SelectError> {
        let mut tries = 0;
        loop {
            let client = pool.get().await.map_err(|cause| not_ready(pool_error(cause)))?;
            let cause = match begin(&client, time, self.wants_writable()).await {
                Ok(()) => return Ok(client),
                Err(cause) => cause,
            };
            let is_gone = client.is_closed() || matches!(cause, SelectError::Db(DbError::Unreachable(_)));
            drop(Object::take(client));
            if !is_gone || tries == CONNECTIONS {
                return Err(cause);
            }
            pool.retain(|_, _| false);
            tries += 1;
        }
    }

    /// The pool of the agents' login.
    fn readers(self: &Arc<Self>) -> Result<Pool, SelectError> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = &*readers {
            return Ok(pool.clone());
        }
        let mut session = PostgresSession::begin(self, Purpose::Read)?;
        let Some(login) = agent_role::find(&mut session)? else {
            return Err(SelectError::NotReady("the engine's own login may not make it".to_owned()));
        };
        drop(session);
        let mut config = self.config.clone();
        config.user(&login.role).password(&login.password);
        let options = config.get_options().unwrap_or_default();
        // That nothing is written is said by every transaction: a login that could only read would look like a standby.
        let options = format!("{options} -c search_path={},pg_catalog", login.schema);
        config.options(options);
        // Settings that a statement may have changed are put back before the next one.
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Clean };
        let pool = Pool::builder(Manager::from_config(config, self.tls.clone(), manager))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT))
            .create_timeout(Some(WAIT))
            .build()
            .map_err(DbError::unreachable)?;
        *readers = Some(pool.clone());
        Ok(pool)
    }
}

/// The values in the order of their numbers; else the name of a parameter that has no place or no value.
pub(super) fn places<'a>(
    sql: &str,
    numbered: &Numbered,
    params: &'a [(&str, Value)],
) -> Result<Vec<Sent<'a>>, String> {
    for (name, _) in params {
        if !pieces(sql).any(|piece| piece == Piece::Parameter(name)) {
            return Err((*name).to_owned());
        }
    }
    let find = |name: &String| {
        let found = params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| Sent(value)).ok_or_else(|| name.clone())
    };
    numbered.names.iter().map(find).collect()
}

/// One statement, checked and numbered.
pub(super) struct Call<'a> {
    pub(super) sql: &'a str,
    pub(super) values: &'a [Sent<'a>],
    pub(super) unknown: &'a [String],
    pub(super) limits: &'a Limits,
}

impl Call<'_> {
    pub(super) async fn run(&self, client: &Object) -> Result<Table, SelectError> {
        let failed = |cause| failure(cause, self.limits.time);
        self.refuse_functions(client).await?;
        // Inside ours, it can be nothing but a query, and a comment at its end cannot swallow what follows.
        let described = self.prepare(client, &format!("select * from ({}\n) q", self.sql)).await?;
        let (wrapped, kinds) = wrapped(self.sql, &described, self.limits);
        let names = described.columns().iter().map(|column| column.name().to_owned()).collect();
        let mut collected = Collected::new(names, self.limits);
        if kinds.is_empty() {
            return Err(SelectError::Wrong("no columns".to_owned()));
        }
        let statement = client.prepare_typed(&wrapped, described.params()).await.map_err(failed)?;
        let rows = client.query_raw(&statement, references(self.values)).await.map_err(failed)?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            let values = kinds.iter().enumerate().map(|(at, kind)| {
                let text: Option<&str> = row.try_get(at).map_err(failed)?;
                Ok(text.map_or(Json::Null, |text| to_json(kind, text)))
            });
            collected.push(values.collect::<Result<_, SelectError>>()?)?;
        }
        Ok(collected.finish())
    }

    /// The server's plan of it, by lines.
    pub(super) async fn plan(&self, client: &Object) -> Result<Vec<String>, SelectError> {
        let failed = |cause| failure(cause, self.limits.time);
        self.refuse_functions(client).await?;
        let statement = self.prepare(client, &format!("explain {}", self.sql)).await?;
        let rows = client.query(&statement, &references(self.values)).await.map_err(failed)?;
        rows.iter().map(|row| row.try_get::<_, String>(0).map_err(failed)).collect()
    }

    /// Refuses names before brackets that the server knows as functions.
    pub(super) async fn refuse_functions(&self, client: &Object) -> Result<(), SelectError> {
        if self.unknown.is_empty() {
            return Ok(());
        }
        let sql = "select p.proname::text from pg_catalog.pg_proc p where p.proname = any($1) limit 1";
        let found = client.query_opt(sql, &[&self.unknown]).await;
        match found.map_err(|cause| failure(cause, self.limits.time))? {
            Some(row) => {
                let name: String = row.try_get(0).map_err(|cause| failure(cause, self.limits.time))?;
                Err(SelectError::Forbidden(format!("function `{name}` is not for agents")))
            }
            None => Ok(()),
        }
    }

    /// First with the parameters' own types, so that a number stays one; else with those the places want.
    pub(super) async fn prepare(&self, client: &Object, sql: &str) -> Result<Statement, SelectError> {
        let statement = self.prepare_any(client, sql).await?;
        // A number of the server's own, `$1`, stands for no value of ours.
        match statement.params().len() {
            count if count == self.values.len() => Ok(statement),
            count => Err(SelectError::Parameter(format!("${count}"))),
        }
    }

    async fn prepare_any(&self, client: &Object, sql: &str) -> Result<Statement, SelectError> {
        let own: Vec<Type> = self.values.iter().map(|value| own_type(value.0)).collect();
        if own.iter().any(|kind| *kind != Type::UNKNOWN) {
            match client.prepare_typed(sql, &own).await {
                Ok(statement) => return Ok(statement),
                Err(_) => client
                    .batch_execute("rollback to own")
                    .await
                    .map_err(|cause| failure(cause, self.limits.time))?,
            }
        }
        client.prepare(sql).await.map_err(|cause| failure(cause, self.limits.time))
    }
}

/// Begins the transaction of a statement.
async fn begin(client: &Object, limit: Duration, wants_writable: bool) -> Result<(), SelectError> {
    let time = (limit + SPARE).as_millis();
    let sql = format!(
        "begin isolation level repeatable read read only; set local statement_timeout = {time};
         set local idle_in_transaction_session_timeout = {time}; select pg_catalog.pg_is_in_recovery()::text;
         savepoint own"
    );
    let told = client.simple_query(&sql).await.map_err(|cause| failure(cause, limit))?;
    let is_standby = told.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("true"),
        _ => false,
    });
    if is_standby && wants_writable {
        return Err(DbError::unreachable("the server is a standby").into());
    }
    Ok(())
}

fn own_type(value: &Value) -> Type {
    match value {
        Value::Bool(_) => Type::BOOL,
        Value::Int(_) => Type::INT8,
        Value::Real(_) => Type::FLOAT8,
        Value::Text(_) => Type::TEXT,
        Value::Null | Value::Bytes(_) => Type::UNKNOWN,
    }
}

/// The statement inside one that gives every value as text of a bounded length, and a bounded number of rows.
fn wrapped(sql: &str, described: &Statement, limits: &Limits) -> (String, Vec<Type>) {
    let kinds: Vec<Type> = described.columns().iter().map(|column| column.type_().clone()).collect();
    let most = limits.value + 1;
    let values: Vec<_> = (0..kinds.len()).map(|at| format!("left(q.c{at}::text, {most})")).collect();
    let names: Vec<_> = (0..kinds.len()).map(|at| format!("c{at}")).collect();
    let rows = limits.rows + 1;
    let sql = format!("select {} from ({sql}\n) as q({}) limit {rows}", values.join(", "), names.join(", "));
    (sql, kinds)
}

fn to_json(kind: &Type, text: &str) -> Json {
    match *kind {
        Type::BOOL => Json::Bool(text == "true"),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC | Type::OID => {
            json::number_text(text)
        }
        // The form of all times here.
        Type::TIMESTAMPTZ => Json::String(text.replacen(' ', "T", 1).replace("+00", "Z")),
        Type::TIMESTAMP => Json::String(text.replacen(' ', "T", 1)),
        _ => Json::String(text.to_owned()),
    }
}

/// A login that cannot log in is a matter for the server's owner.
fn not_ready(cause: DbError) -> SelectError {
    match &cause {
        DbError::Unreachable(inner) => {
            match inner.downcast_ref::<tokio_postgres::Error>().and_then(|e| e.code()) {
                Some(code) if code.code().starts_with("28") => {
                    SelectError::NotReady("the server does not let it in (`pg_hba.conf`)".to_owned())
                }
                _ => SelectError::Db(cause),
            }
        }
        _ => SelectError::Db(cause),
    }
}

pub(super) fn failure(cause: tokio_postgres::Error, time: Duration) -> SelectError {
    let Some(known) = cause.as_db_error() else {
        return match std::error::Error::source(&cause) {
            // A value that its place cannot take.
            Some(source) if !cause.is_closed() && !source.is::<std::io::Error>() => {
                SelectError::Wrong(source.to_string())
            }
            _ => SelectError::Db(error(cause)),
        };
    };
    let code = known.code();
    if [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::READ_ONLY_SQL_TRANSACTION].contains(code) {
        SelectError::Forbidden(known.message().to_owned())
    } else if *code == SqlState::QUERY_CANCELED {
        SelectError::TooLong(time)
    } else if ["53", "54"].iter().any(|class| code.code().starts_with(class)) {
        SelectError::TooLarge
    } else if ["08", "57P", "XX"].iter().any(|class| code.code().starts_with(class)) {
        SelectError::Db(error(cause))
    } else {
        SelectError::Wrong(known.message().to_owned())
    }
}
