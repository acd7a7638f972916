use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

#[test]
fn a_name_that_is_missing_suggests_near_ones_or_a_list() {
    let missing = |near: &[&str]| Error::NotFound {
        kind: Kind::Part,
        name: name("tonne"),
        near: near.iter().map(|near| (*near).to_owned()).collect(),
    };
    let report = missing(&["tone"]).report();
    assert_eq!((report.code, report.kind), (Code::NotFound, ErrorKind::Missing));
    assert_eq!(report.subject, Subject::entity(Kind::Part, "tonne"));
    assert_eq!((report.candidates, report.remedies), (vec!["tone".to_owned()], vec![Remedy::DidYouMean]));
    let report = missing(&[]).report();
    assert_eq!(report.remedies, [Remedy::ListKind { kind: Kind::Part, part_type: None }]);
}

#[test]
fn an_unfinished_change_is_the_error_that_stopped_it() {
    let rest =
        Error::InUse { kind: Kind::Part, name: name("calm"), users: vec!["persona a".to_owned()].into() };
    let done = Done::Resolved { merged: Some(Scope::Project), deleted: vec![Scope::Global] };
    let report = Error::Unfinished { done, rest: Box::new(rest) }.report();
    assert_eq!((report.code, report.subject.users), (Code::InUse, vec!["persona a".to_owned()]));
    assert!(report.message.contains('\n') && report.message.contains("project has the merged definition"));
    let remedies = [Remedy::UnlinkFirst, Remedy::UseForce, Remedy::Repeat, Remedy::RollBack];
    assert_eq!(report.remedies, remedies);
}

#[test]
fn many_users_are_counted() {
    let users: Vec<String> = (1..=12).map(|number| format!("p{number}")).collect();
    let users = Users { named: users, stage: Some("calm".to_owned()) };
    assert_eq!(users.to_string(), "p1, p2, p3, p4, p5, p6, p7, p8, p9, p10 and 2 more in stage calm");
}
