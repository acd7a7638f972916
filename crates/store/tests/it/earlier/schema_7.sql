PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE masque_migrations (version bigint PRIMARY KEY, applied_at text NOT NULL);
INSERT INTO masque_migrations VALUES(1,'2026-11-17T20:53:22.783681Z');
INSERT INTO masque_migrations VALUES(2,'2026-11-17T20:53:22.784458Z');
INSERT INTO masque_migrations VALUES(3,'2026-11-17T20:53:22.785448Z');
INSERT INTO masque_migrations VALUES(4,'2026-11-17T20:53:22.791670Z');
INSERT INTO masque_migrations VALUES(5,'2026-11-17T20:53:22.793455Z');
INSERT INTO masque_migrations VALUES(6,'2026-11-17T20:53:22.796522Z');
INSERT INTO masque_migrations VALUES(7,'2026-11-17T20:53:22.802809Z');
CREATE TABLE agent_personas (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    display_name TEXT,
    description TEXT,
    summary TEXT NOT NULL DEFAULT '',
    detail TEXT,
    extends TEXT,
    system_prompt TEXT,
    system_prompt_mode TEXT NOT NULL DEFAULT 'replace',
    preferred_models TEXT NOT NULL DEFAULT '[]',
    tool_preset TEXT,
    bias_profile TEXT,
    context_preset TEXT,
    aggregation_strategy TEXT NOT NULL DEFAULT 'auto',
    plan_persona TEXT,
    parts_mode TEXT NOT NULL DEFAULT 'replace',
    removals TEXT NOT NULL DEFAULT '{}',
    compiled_summary TEXT,
    compiled_detail TEXT,
    compiled_at TEXT,
    compiled_fingerprint TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
, max_tool_rounds INTEGER) STRICT;
INSERT INTO agent_personas VALUES(1,'01a1eb49-2998-73d4-a2f7-4d0ecb1a4207','base','The Base wbase',NULL,'',NULL,NULL,'You are a base.','replace','[]',NULL,NULL,NULL,'',NULL,'replace','{}',NULL,NULL,NULL,NULL,'["rooted"]',1,'2026-11-17T20:53:22.967965Z','2026-11-17T20:53:22.967965Z',NULL);
INSERT INTO agent_personas VALUES(2,'01a1eb49-29a1-74ee-a5f1-d3761fa98b78','full','Full Display wdisplay','Use it for all wdesc','Everything wsummary','In detail wdetail','base','You are whole wprompt.','append','[{"provider":"anthropic","model":"m-1","temperature":0.5,"top_p":0.9,"max_output_tokens":100},{"provider":"gemini","model":"m-2"}]','reader','lean','code','skeleton','{"instruction":"Plan first wplan","model":"anthropic/m-3","tool_preset":"reader"}','append','{"remove_guardrails":["honest2"],"remove_parts":["lately"],"remove_skills":["weigh2"],"remove_tags":["rooted"],"remove_test_inputs":["hello2"],"remove_traits":["warm2"]}',replace('Everything wsummary\n\n## Goal\n\nWin wgoal\n\n## Tone\n\nCalm wpartsum\n\n## Traits\n\n- **warm**: Warm wtraitdesc\n\n## Skills\n\n- **weigh**: Weighs wskilldesc\n\n## Guardrails\n\n- **honest**: Honest wguarddesc\n','\n',char(10)),replace('You are a base.\n\nYou are whole wprompt.\n\n## Goal\n\nWin wgoal\n\n## Tone\n\nStay calm wpartcontent\n\n## Traits\n\n- **warm**: Be warm wtraitinstr\n\n## Skills\n\n### Weigh\n\nWeighs wskilldesc\n\nWeigh it wskillcontent\n\n## Guardrails\n\n- **honest** (critical): Never lie wguardcontent\n','\n',char(10)),'2026-11-17T20:53:23.854403Z','d17735a1087f3aae1803fb3b30069f9eea7ac3b931f7ffd051e5b199f686c4a8','["wtag","two"]',4,'2026-11-17T20:53:22.975733Z','2026-11-17T20:53:23.724703Z',7);
CREATE TABLE agent_parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    part_type TEXT NOT NULL,
    description TEXT,
    summary TEXT NOT NULL DEFAULT '',
    content TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_parts VALUES(1,'01a1eb49-298a-7044-9872-e57cce2687b1','calm','tone','A quiet register wpartdesc','Calm wpartsum','Stay calm wpartcontent','["wparttag"]',1,'2026-11-17T20:53:22.951758Z','2026-11-17T20:53:22.951758Z');
INSERT INTO agent_parts VALUES(2,'01a1eb49-298b-77ce-b6aa-307c514aabe2','goal','goal',NULL,'','Win wgoal','[]',1,'2026-11-17T20:53:22.955072Z','2026-11-17T20:53:22.955072Z');
INSERT INTO agent_parts VALUES(3,'01a1eb49-298b-77ce-b6aa-307dc624101c','lately','tone',NULL,'','Late wlate','[]',2,'2026-11-17T20:53:22.955771Z','2026-11-17T20:53:23.716023Z');
CREATE TABLE agent_traits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    trait_type TEXT NOT NULL,
    description TEXT,
    instruction TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_traits VALUES(1,'01a1eb49-298c-71b3-805c-7a2a071fe4c4','warm','social','Warm wtraitdesc','Be warm wtraitinstr','["wtraittag"]',1,'2026-11-17T20:53:22.956371Z','2026-11-17T20:53:22.956371Z');
CREATE TABLE agent_skills (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    content TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_skills VALUES(1,'01a1eb49-298f-7253-94a5-3552f181b1e2','weigh','Weighs wskilldesc','Weigh it wskillcontent','["wskilltag"]',1,'2026-11-17T20:53:22.957005Z','2026-11-17T20:53:22.957005Z');
CREATE TABLE agent_guardrails (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    severity TEXT NOT NULL DEFAULT 'medium',
    description TEXT,
    content TEXT,
    deny_tools TEXT NOT NULL DEFAULT '[]',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_guardrails VALUES(1,'01a1eb49-2990-73a2-9126-fff74776338e','honest','critical','Honest wguarddesc','Never lie wguardcontent','["write_*","rm"]','["wguardtag"]',1,'2026-11-17T20:53:22.960256Z','2026-11-17T20:53:22.960256Z');
CREATE TABLE character_arcs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    summary TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO character_arcs VALUES(1,'01a1eb49-299d-7629-831f-fc65d7a4e354','growth','Grows warcdesc','Growth warcsum','["warctag"]',2,'2026-11-17T20:53:22.973073Z','2026-11-17T20:53:23.720687Z');
CREATE TABLE arc_stages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    arc_id INTEGER NOT NULL REFERENCES character_arcs (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    stage_order INTEGER NOT NULL DEFAULT 0,
    description TEXT,
    condition TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (arc_id, name)
) STRICT;
INSERT INTO arc_stages VALUES(1,1,'first',1,'Early wstagedesc','When ready wstagecond','2026-11-17T20:53:22.973339Z');
INSERT INTO arc_stages VALUES(2,1,'second',5,NULL,NULL,'2026-11-17T20:53:22.973589Z');
CREATE TABLE arc_stage_parts (
    stage_id INTEGER NOT NULL REFERENCES arc_stages (id) ON DELETE CASCADE,
    part_id INTEGER NOT NULL REFERENCES agent_parts (id) ON DELETE RESTRICT,
    part_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (stage_id, part_id)
) STRICT, WITHOUT ROWID;
INSERT INTO arc_stage_parts VALUES(1,3,0);
INSERT INTO arc_stage_parts VALUES(2,2,0);
CREATE TABLE agent_persona_parts (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    part_id INTEGER NOT NULL REFERENCES agent_parts (id) ON DELETE RESTRICT,
    part_order INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, part_id)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_persona_parts VALUES(1,2,0,0);
INSERT INTO agent_persona_parts VALUES(2,1,3,40);
INSERT INTO agent_persona_parts VALUES(2,2,-1,2);
CREATE TABLE agent_persona_traits (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    trait_id INTEGER NOT NULL REFERENCES agent_traits (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, trait_id)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_persona_traits VALUES(1,1,0);
INSERT INTO agent_persona_traits VALUES(2,1,0);
CREATE TABLE agent_persona_skills (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    skill_id INTEGER NOT NULL REFERENCES agent_skills (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, skill_id)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_persona_skills VALUES(2,1,0);
CREATE TABLE agent_persona_guardrails (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    guardrail_id INTEGER NOT NULL REFERENCES agent_guardrails (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, guardrail_id)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_persona_guardrails VALUES(2,1,0);
CREATE TABLE persona_arc (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    arc_id INTEGER NOT NULL REFERENCES character_arcs (id) ON DELETE RESTRICT,
    current_stage_id INTEGER REFERENCES arc_stages (id) ON DELETE SET NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (persona_id)
) STRICT, WITHOUT ROWID;
INSERT INTO persona_arc VALUES(2,1,2,'2026-11-17T20:53:23.084958Z');
CREATE TABLE agent_tool_presets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    categories TEXT NOT NULL DEFAULT '{}',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_tool_presets VALUES(1,'01a1eb49-2990-73a2-9126-fff82b15e6e5','reader','Reads wtooldesc','{"wcategory":[{"name":"read_file"},{"name":"wtool_*","approval":"ask","weight":5,"parameter_bias":{"limit":"keep it low"}}]}','["wtooltag"]',1,'2026-11-17T20:53:22.960915Z','2026-11-17T20:53:22.960915Z');
CREATE TABLE agent_bias_profiles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    multipliers TEXT NOT NULL DEFAULT '{}',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_bias_profiles VALUES(1,'01a1eb49-2991-74a4-aaa9-6e23e423b564','lean','Leans wbiasdesc','{"shell":0.0,"wcategory":1.5}','["wbiastag"]',1,'2026-11-17T20:53:22.961648Z','2026-11-17T20:53:22.961648Z');
CREATE TABLE agent_context_presets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    entries TEXT NOT NULL DEFAULT '[]',
    token_budget INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_context_presets VALUES(1,'01a1eb49-2992-721d-84d0-e20991485f9b','code','Sees wctxdesc','[{"glob":"src/**/wglob.rs","view":"skeleton"},{"path":"docs/wpath.md","view":"full"}]',4000,'["wctxtag"]',1,'2026-11-17T20:53:22.962292Z','2026-11-17T20:53:22.962292Z');
CREATE TABLE agent_test_inputs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    content TEXT,
    expectations TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
INSERT INTO agent_test_inputs VALUES(1,'01a1eb49-2992-721d-84d0-e20a8990058c','hello','Tries whellodesc','Say hello whellocontent','["greets wexpect","is short"]','["whellotag"]',1,'2026-11-17T20:53:22.962939Z','2026-11-17T20:53:22.962939Z');
CREATE TABLE agent_persona_test_inputs (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    test_input_id INTEGER NOT NULL REFERENCES agent_test_inputs (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, test_input_id)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_persona_test_inputs VALUES(2,1,0);
CREATE TABLE persona_state (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL,
    arc TEXT,
    stage TEXT,
    compiled_summary TEXT,
    compiled_detail TEXT,
    compiled_at TEXT,
    compiled_fingerprint TEXT,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope, origin, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_revisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL DEFAULT 'shared',
    origin TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL,
    guid TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    action TEXT NOT NULL,
    author TEXT NOT NULL,
    front TEXT NOT NULL,
    message TEXT,
    entity TEXT NOT NULL,
    refs TEXT NOT NULL DEFAULT '[]',
    content_hash TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (guid, revision)
) STRICT;
INSERT INTO agent_revisions VALUES(1,'shared','','part','01a1eb49-298a-7044-9872-e57cce2687b1','calm',1,'create','root','cli','import','{"name":"calm","part_type":"tone","description":"A quiet register wpartdesc","summary":"Calm wpartsum","content":"Stay calm wpartcontent","tags":["wparttag"]}','[]',NULL,'2026-11-17T20:53:22.954800Z');
INSERT INTO agent_revisions VALUES(2,'shared','','part','01a1eb49-298b-77ce-b6aa-307c514aabe2','goal',1,'create','root','cli','import','{"name":"goal","part_type":"goal","content":"Win wgoal","tags":[]}','[]',NULL,'2026-11-17T20:53:22.955549Z');
INSERT INTO agent_revisions VALUES(3,'shared','','part','01a1eb49-298b-77ce-b6aa-307dc624101c','late',1,'create','root','cli','import','{"name":"late","part_type":"tone","content":"Late wlate","tags":[]}','[]',NULL,'2026-11-17T20:53:22.956169Z');
INSERT INTO agent_revisions VALUES(4,'shared','','trait','01a1eb49-298c-71b3-805c-7a2a071fe4c4','warm',1,'create','root','cli','import','{"name":"warm","trait_type":"social","description":"Warm wtraitdesc","instruction":"Be warm wtraitinstr","tags":["wtraittag"]}','[]',NULL,'2026-11-17T20:53:22.956813Z');
INSERT INTO agent_revisions VALUES(5,'shared','','skill','01a1eb49-298f-7253-94a5-3552f181b1e2','weigh',1,'create','root','cli','import','{"name":"weigh","description":"Weighs wskilldesc","content":"Weigh it wskillcontent","tags":["wskilltag"]}','[]',NULL,'2026-11-17T20:53:22.960051Z');
INSERT INTO agent_revisions VALUES(6,'shared','','guardrail','01a1eb49-2990-73a2-9126-fff74776338e','honest',1,'create','root','cli','import','{"name":"honest","severity":"critical","description":"Honest wguarddesc","content":"Never lie wguardcontent","deny_tools":["write_*","rm"],"tags":["wguardtag"]}','[]',NULL,'2026-11-17T20:53:22.960690Z');
INSERT INTO agent_revisions VALUES(7,'shared','','tool_preset','01a1eb49-2990-73a2-9126-fff82b15e6e5','reader',1,'create','root','cli','import','{"name":"reader","description":"Reads wtooldesc","categories":{"wcategory":[{"name":"read_file"},{"name":"wtool_*","approval":"ask","weight":5,"parameter_bias":{"limit":"keep it low"}}]},"tags":["wtooltag"]}','[]',NULL,'2026-11-17T20:53:22.961398Z');
INSERT INTO agent_revisions VALUES(8,'shared','','bias_profile','01a1eb49-2991-74a4-aaa9-6e23e423b564','lean',1,'create','root','cli','import','{"name":"lean","description":"Leans wbiasdesc","multipliers":{"shell":0.0,"wcategory":1.5},"tags":["wbiastag"]}','[]',NULL,'2026-11-17T20:53:22.962086Z');
INSERT INTO agent_revisions VALUES(9,'shared','','context_preset','01a1eb49-2992-721d-84d0-e20991485f9b','code',1,'create','root','cli','import','{"name":"code","description":"Sees wctxdesc","entries":[{"glob":"src/**/wglob.rs","view":"skeleton"},{"path":"docs/wpath.md","view":"full"}],"token_budget":4000,"tags":["wctxtag"]}','[]',NULL,'2026-11-17T20:53:22.962764Z');
INSERT INTO agent_revisions VALUES(10,'shared','','test_input','01a1eb49-2992-721d-84d0-e20a8990058c','hello',1,'create','root','cli','import','{"name":"hello","description":"Tries whellodesc","content":"Say hello whellocontent","expectations":["greets wexpect","is short"],"tags":["whellotag"]}','[]',NULL,'2026-11-17T20:53:22.963746Z');
INSERT INTO agent_revisions VALUES(11,'shared','','persona','01a1eb49-2998-73d4-a2f7-4d0ecb1a4207','base',1,'create','root','cli','import','{"name":"base","display_name":"The Base wbase","system_prompt":"You are a base.","system_prompt_mode":"replace","preferred_models":[],"parts":[{"name":"goal","order":0,"priority":0}],"parts_mode":"replace","traits":["warm"],"skills":[],"guardrails":[],"tags":["rooted"]}','[{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"trait","name":"warm","scope":"shared","revision":1,"guid":"01a1eb49-298c-71b3-805c-7a2a071fe4c4"}]',NULL,'2026-11-17T20:53:22.972656Z');
INSERT INTO agent_revisions VALUES(12,'shared','','arc','01a1eb49-299d-7629-831f-fc65d7a4e354','growth',1,'create','root','cli','import','{"name":"growth","description":"Grows warcdesc","summary":"Growth warcsum","stages":[{"name":"first","order":1,"description":"Early wstagedesc","condition":"When ready wstagecond","parts":["late"]},{"name":"second","order":5,"parts":["goal"]}],"tags":["warctag"]}','[{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"part","name":"late","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307dc624101c"}]',NULL,'2026-11-17T20:53:22.974272Z');
INSERT INTO agent_revisions VALUES(13,'shared','','persona','01a1eb49-29a1-74ee-a5f1-d3761fa98b78','full',1,'create','root','cli','import','{"name":"full","display_name":"Full Display wdisplay","description":"Use it for all wdesc","summary":"Everything wsummary","detail":"In detail wdetail","extends":"base","system_prompt":"You are whole wprompt.","system_prompt_mode":"append","preferred_models":[{"provider":"anthropic","model":"m-1","temperature":0.5,"top_p":0.9,"max_output_tokens":100},{"provider":"gemini","model":"m-2"}],"tool_preset":"reader","bias_profile":"lean","context_preset":"code","aggregation_strategy":"skeleton","max_tool_rounds":7,"plan_persona":{"instruction":"Plan first wplan","model":"anthropic/m-3","tool_preset":"reader"},"parts":[{"name":"calm","order":3,"priority":40},{"name":"goal","order":-1,"priority":2}],"parts_mode":"append","traits":["warm"],"skills":["weigh"],"guardrails":["honest"],"arc":"growth","test_inputs":["hello"],"tags":["wtag","two"],"remove_parts":["late"],"remove_traits":["warm2"],"remove_skills":["weigh2"],"remove_guardrails":["honest2"],"remove_test_inputs":["hello2"],"remove_tags":["rooted"]}','[{"kind":"arc","name":"growth","scope":"shared","revision":1,"guid":"01a1eb49-299d-7629-831f-fc65d7a4e354"},{"kind":"bias_profile","name":"lean","scope":"shared","revision":1,"guid":"01a1eb49-2991-74a4-aaa9-6e23e423b564"},{"kind":"context_preset","name":"code","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20991485f9b"},{"kind":"guardrail","name":"honest","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff74776338e"},{"kind":"part","name":"calm","scope":"shared","revision":1,"guid":"01a1eb49-298a-7044-9872-e57cce2687b1"},{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"part","name":"late","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307dc624101c"},{"kind":"persona","name":"base","scope":"shared","revision":1,"guid":"01a1eb49-2998-73d4-a2f7-4d0ecb1a4207"},{"kind":"skill","name":"weigh","scope":"shared","revision":1,"guid":"01a1eb49-298f-7253-94a5-3552f181b1e2"},{"kind":"test_input","name":"hello","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20a8990058c"},{"kind":"tool_preset","name":"reader","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff82b15e6e5"},{"kind":"trait","name":"warm","scope":"shared","revision":1,"guid":"01a1eb49-298c-71b3-805c-7a2a071fe4c4"}]',NULL,'2026-11-17T20:53:22.980698Z');
INSERT INTO agent_revisions VALUES(14,'shared','','persona','01a1eb49-29a1-74ee-a5f1-d3761fa98b78','full',2,'update','root','cli','shorter','{"name":"full","display_name":"Full Display wdisplay","description":"Use it for all wdesc","summary":"Everything again wsummary2","detail":"In detail wdetail","extends":"base","system_prompt":"You are whole wprompt.","system_prompt_mode":"append","preferred_models":[{"provider":"anthropic","model":"m-1","temperature":0.5,"top_p":0.9,"max_output_tokens":100},{"provider":"gemini","model":"m-2"}],"tool_preset":"reader","bias_profile":"lean","context_preset":"code","aggregation_strategy":"skeleton","max_tool_rounds":7,"plan_persona":{"instruction":"Plan first wplan","model":"anthropic/m-3","tool_preset":"reader"},"parts":[{"name":"goal","order":-1,"priority":2},{"name":"calm","order":3,"priority":40}],"parts_mode":"append","traits":["warm"],"skills":["weigh"],"guardrails":["honest"],"arc":"growth","test_inputs":["hello"],"tags":["wtag","two"],"remove_parts":["late"],"remove_traits":["warm2"],"remove_skills":["weigh2"],"remove_guardrails":["honest2"],"remove_test_inputs":["hello2"],"remove_tags":["rooted"]}','[{"kind":"arc","name":"growth","scope":"shared","revision":1,"guid":"01a1eb49-299d-7629-831f-fc65d7a4e354"},{"kind":"bias_profile","name":"lean","scope":"shared","revision":1,"guid":"01a1eb49-2991-74a4-aaa9-6e23e423b564"},{"kind":"context_preset","name":"code","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20991485f9b"},{"kind":"guardrail","name":"honest","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff74776338e"},{"kind":"part","name":"calm","scope":"shared","revision":1,"guid":"01a1eb49-298a-7044-9872-e57cce2687b1"},{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"part","name":"late","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307dc624101c"},{"kind":"persona","name":"base","scope":"shared","revision":1,"guid":"01a1eb49-2998-73d4-a2f7-4d0ecb1a4207"},{"kind":"skill","name":"weigh","scope":"shared","revision":1,"guid":"01a1eb49-298f-7253-94a5-3552f181b1e2"},{"kind":"test_input","name":"hello","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20a8990058c"},{"kind":"tool_preset","name":"reader","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff82b15e6e5"},{"kind":"trait","name":"warm","scope":"shared","revision":1,"guid":"01a1eb49-298c-71b3-805c-7a2a071fe4c4"}]',NULL,'2026-11-17T20:53:23.158034Z');
INSERT INTO agent_revisions VALUES(15,'shared','','persona','01a1eb49-29a1-74ee-a5f1-d3761fa98b78','full',3,'update','root','cli',NULL,'{"name":"full","display_name":"Full Display wdisplay","description":"Use it for all wdesc","summary":"Everything wsummary","detail":"In detail wdetail","extends":"base","system_prompt":"You are whole wprompt.","system_prompt_mode":"append","preferred_models":[{"provider":"anthropic","model":"m-1","temperature":0.5,"top_p":0.9,"max_output_tokens":100},{"provider":"gemini","model":"m-2"}],"tool_preset":"reader","bias_profile":"lean","context_preset":"code","aggregation_strategy":"skeleton","max_tool_rounds":7,"plan_persona":{"instruction":"Plan first wplan","model":"anthropic/m-3","tool_preset":"reader"},"parts":[{"name":"goal","order":-1,"priority":2},{"name":"calm","order":3,"priority":40}],"parts_mode":"append","traits":["warm"],"skills":["weigh"],"guardrails":["honest"],"arc":"growth","test_inputs":["hello"],"tags":["wtag","two"],"remove_parts":["late"],"remove_traits":["warm2"],"remove_skills":["weigh2"],"remove_guardrails":["honest2"],"remove_test_inputs":["hello2"],"remove_tags":["rooted"]}','[{"kind":"arc","name":"growth","scope":"shared","revision":1,"guid":"01a1eb49-299d-7629-831f-fc65d7a4e354"},{"kind":"bias_profile","name":"lean","scope":"shared","revision":1,"guid":"01a1eb49-2991-74a4-aaa9-6e23e423b564"},{"kind":"context_preset","name":"code","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20991485f9b"},{"kind":"guardrail","name":"honest","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff74776338e"},{"kind":"part","name":"calm","scope":"shared","revision":1,"guid":"01a1eb49-298a-7044-9872-e57cce2687b1"},{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"part","name":"late","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307dc624101c"},{"kind":"persona","name":"base","scope":"shared","revision":1,"guid":"01a1eb49-2998-73d4-a2f7-4d0ecb1a4207"},{"kind":"skill","name":"weigh","scope":"shared","revision":1,"guid":"01a1eb49-298f-7253-94a5-3552f181b1e2"},{"kind":"test_input","name":"hello","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20a8990058c"},{"kind":"tool_preset","name":"reader","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff82b15e6e5"},{"kind":"trait","name":"warm","scope":"shared","revision":1,"guid":"01a1eb49-298c-71b3-805c-7a2a071fe4c4"}]',NULL,'2026-11-17T20:53:23.407186Z');
INSERT INTO agent_revisions VALUES(16,'shared','','part','01a1eb49-2ba8-7455-92e6-e37de70832b7','gone',1,'create','root','cli',NULL,'{"name":"gone","part_type":"tone","content":"wgone","tags":[]}','[]',NULL,'2026-11-17T20:53:23.500249Z');
INSERT INTO agent_revisions VALUES(17,'shared','','part','01a1eb49-2ba8-7455-92e6-e37de70832b7','gone',2,'delete','root','cli',NULL,'{"name":"gone","part_type":"tone","content":"wgone","tags":[]}','[]',NULL,'2026-11-17T20:53:23.593824Z');
INSERT INTO agent_revisions VALUES(18,'shared','','part','01a1eb49-298b-77ce-b6aa-307dc624101c','lately',2,'rename','root','cli','late is lately now','{"name":"lately","part_type":"tone","content":"Late wlate","tags":[]}','[]',NULL,'2026-11-17T20:53:23.719789Z');
INSERT INTO agent_revisions VALUES(19,'shared','','arc','01a1eb49-299d-7629-831f-fc65d7a4e354','growth',2,'link','root','cli','late is lately now','{"name":"growth","description":"Grows warcdesc","summary":"Growth warcsum","stages":[{"name":"first","order":1,"description":"Early wstagedesc","condition":"When ready wstagecond","parts":["lately"]},{"name":"second","order":5,"parts":["goal"]}],"tags":["warctag"]}','[{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"part","name":"lately","scope":"shared","revision":2,"guid":"01a1eb49-298b-77ce-b6aa-307dc624101c"}]',NULL,'2026-11-17T20:53:23.723740Z');
INSERT INTO agent_revisions VALUES(20,'shared','','persona','01a1eb49-29a1-74ee-a5f1-d3761fa98b78','full',4,'link','root','cli','late is lately now','{"name":"full","display_name":"Full Display wdisplay","description":"Use it for all wdesc","summary":"Everything wsummary","detail":"In detail wdetail","extends":"base","system_prompt":"You are whole wprompt.","system_prompt_mode":"append","preferred_models":[{"provider":"anthropic","model":"m-1","temperature":0.5,"top_p":0.9,"max_output_tokens":100},{"provider":"gemini","model":"m-2"}],"tool_preset":"reader","bias_profile":"lean","context_preset":"code","aggregation_strategy":"skeleton","max_tool_rounds":7,"plan_persona":{"instruction":"Plan first wplan","model":"anthropic/m-3","tool_preset":"reader"},"parts":[{"name":"goal","order":-1,"priority":2},{"name":"calm","order":3,"priority":40}],"parts_mode":"append","traits":["warm"],"skills":["weigh"],"guardrails":["honest"],"arc":"growth","test_inputs":["hello"],"tags":["wtag","two"],"remove_parts":["lately"],"remove_traits":["warm2"],"remove_skills":["weigh2"],"remove_guardrails":["honest2"],"remove_test_inputs":["hello2"],"remove_tags":["rooted"]}','[{"kind":"arc","name":"growth","scope":"shared","revision":2,"guid":"01a1eb49-299d-7629-831f-fc65d7a4e354"},{"kind":"bias_profile","name":"lean","scope":"shared","revision":1,"guid":"01a1eb49-2991-74a4-aaa9-6e23e423b564"},{"kind":"context_preset","name":"code","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20991485f9b"},{"kind":"guardrail","name":"honest","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff74776338e"},{"kind":"part","name":"calm","scope":"shared","revision":1,"guid":"01a1eb49-298a-7044-9872-e57cce2687b1"},{"kind":"part","name":"goal","scope":"shared","revision":1,"guid":"01a1eb49-298b-77ce-b6aa-307c514aabe2"},{"kind":"part","name":"lately","scope":"shared","revision":2,"guid":"01a1eb49-298b-77ce-b6aa-307dc624101c"},{"kind":"persona","name":"base","scope":"shared","revision":1,"guid":"01a1eb49-2998-73d4-a2f7-4d0ecb1a4207"},{"kind":"skill","name":"weigh","scope":"shared","revision":1,"guid":"01a1eb49-298f-7253-94a5-3552f181b1e2"},{"kind":"test_input","name":"hello","scope":"shared","revision":1,"guid":"01a1eb49-2992-721d-84d0-e20a8990058c"},{"kind":"tool_preset","name":"reader","scope":"shared","revision":1,"guid":"01a1eb49-2990-73a2-9126-fff82b15e6e5"},{"kind":"trait","name":"warm","scope":"shared","revision":1,"guid":"01a1eb49-298c-71b3-805c-7a2a071fe4c4"}]',NULL,'2026-11-17T20:53:23.731566Z');
CREATE TABLE agent_persona_usage (
    name TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_persona_usage VALUES('full','2026-11-17T20:53:23.854050Z');
CREATE TABLE agent_tags (
    kind TEXT NOT NULL,
    tag TEXT NOT NULL,
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (kind, tag, entity_id)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_tags VALUES('agent_bias_profiles','wbiastag',1);
INSERT INTO agent_tags VALUES('agent_context_presets','wctxtag',1);
INSERT INTO agent_tags VALUES('agent_guardrails','wguardtag',1);
INSERT INTO agent_tags VALUES('agent_parts','wparttag',1);
INSERT INTO agent_tags VALUES('agent_personas','rooted',1);
INSERT INTO agent_tags VALUES('agent_personas','two',2);
INSERT INTO agent_tags VALUES('agent_personas','wtag',2);
INSERT INTO agent_tags VALUES('agent_skills','wskilltag',1);
INSERT INTO agent_tags VALUES('agent_test_inputs','whellotag',1);
INSERT INTO agent_tags VALUES('agent_tool_presets','wtooltag',1);
INSERT INTO agent_tags VALUES('agent_traits','wtraittag',1);
INSERT INTO agent_tags VALUES('character_arcs','warctag',1);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','library_search','library_search',0,'CREATE VIRTUAL TABLE library_search USING fts5 (name, words, content = '''', contentless_delete = 1, tokenize = ''ascii'')');
CREATE TABLE IF NOT EXISTS 'library_search_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO library_search_data VALUES(1,X'131d811b');
INSERT INTO library_search_data VALUES(10,X'00000000ff0000010204190004110101011001040e0101011111000001020101121200000103010113130000010000');
INSERT INTO library_search_data VALUES(137438953473,X'0000002d05306c617465310601010205026c793102020104746f6e6531060101030105776c6174653106010104040b070b');
INSERT INTO library_search_data VALUES(274877906945,X'0000009006306561726c791506010102010566697273741506010103010567726f777315060101040502746815020201057265616479150601010501067365636f6e641506010106010877617263646573631506010107050373756d150601010805037461671506010109020368656e150601010a02097374616765636f6e64150601010b070464657363150601010c040c0c0c070c0d0f0a0a0a10');
INSERT INTO library_search_data VALUES(412316860417,X'000000d30430616c6c2006010102020272652006010103010664657461696c200601010402066973706c6179200202010a65766572797468696e6720060101050103666f7220060101060203756c6c2002030102696e20060101070201742006010108010374776f20060101090103757365200601010a01057764657363200601010b04047461696c200601010c03066973706c61792002040204686f6c65200601010d020670726f6d7074200601010e020773756d6d617279200601010f020374616720060101100103796f752006010111040a090d0b110a0809080a0a0c0b0b0b0d0e0a');
INSERT INTO library_search_data VALUES(2336462209025,X'000004660230611006010102010601010202026c6c200601010202027265100601010310060101030104626173651002020201651206010102010463616c6d11020202036f646518020202077269746963616c1406010102010664657461696c200601010402066973706c617920020202036f6373180601010201056561726c7915060101020209766572797468696e672006010105010466696c6516060101020303727374150601010302026f7220060101060203756c6c2002030104676f616c21020203026e6541020202057265657473190601010203036f7773150601010405027468150202010568656c6c6f19020202056f6e6573741402020102696e2006010107020173190601010302017413060101020d0601010801046c617465310202020365616e170202050173170601010202026965140601010301026d64180601010301056e657665721406010104010571756965741106010103010472656164160601010305026572160202050173160601010405017915060101050306676973746572110601010402056f6f7465641006010104020173180601010401037361791906010104020565636f6e641506010106030265731806010105020468656c6c170601010303036f7274190601010502056f6369616c120601010302027263180601010602037461791106010105010374686510020302036f6e6511060101062006010102100601010202047269657319060101060202776f20060101090103757365200601010a010877617263646573631506010107050373756d15060101080503746167150601010904016d120202020462617365100204030769617364657363170601010406037461671706010105020863617465676f7279160601010501060101060306747864657363180601010705037461671806010108020464657363200601010b04047461696c200601010c03066973706c617920020402046569676813020206017313060101030305787065637419060101070204676c6f62180601010903036f616c210601010204026e654106010103030b75617264636f6e74656e741406010105070464657363140601010607037461671406010107020c68656c6c6f636f6e74656e74190601010807046465736319060101090703746167190601010a04016e150601010a03036f6c65200601010d0202696e210601010302046c6174653106010103020b70617274636f6e74656e7411060101070604646573631106010108060373756d11060101090603746167110601010a04027468180601010a0305726f6d7074200601010e020c736b696c6c636f6e74656e741306010104070464657363130601010507037461671306010106030874616765636f6e64150601010b070464657363150601010c0306756d6d617279200601010f0203746167200601011003036f6f6c16060101060604646573631606010107060374616716060101080308726169746465736312060101040705696e7374721206010105070374616712060101060103796f7510060101051006010111040d090e090809080e0d0b0a0c100b0a090809070c0a070a0a09080d09080809090c0c0b0708080d0c080a0c090b0a0c090a08140b090a0f0a0a06090e0a140d0a0b0b0b09080c0b0a09120b0a130b0a080a090b120b0a0a090c130b0a0f0b0d0a0a0b0a0f0c0a');
INSERT INTO library_search_data VALUES(9009535716950016,X'04000000000000040000002000000041000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000310000000000000000000000000000001500000000000000000000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE IF NOT EXISTS 'library_search_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO library_search_idx VALUES(1,X'',2);
INSERT INTO library_search_idx VALUES(2,X'',2);
INSERT INTO library_search_idx VALUES(3,X'',2);
INSERT INTO library_search_idx VALUES(17,X'',2);
CREATE TABLE IF NOT EXISTS 'library_search_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);
INSERT INTO library_search_docsize VALUES(16,X'0304',11);
INSERT INTO library_search_docsize VALUES(17,X'0109',1);
INSERT INTO library_search_docsize VALUES(18,X'0105',4);
INSERT INTO library_search_docsize VALUES(19,X'0105',5);
INSERT INTO library_search_docsize VALUES(20,X'0106',6);
INSERT INTO library_search_docsize VALUES(21,X'010b',18);
INSERT INTO library_search_docsize VALUES(22,X'0107',7);
INSERT INTO library_search_docsize VALUES(23,X'0105',8);
INSERT INTO library_search_docsize VALUES(24,X'0109',9);
INSERT INTO library_search_docsize VALUES(25,X'0109',10);
INSERT INTO library_search_docsize VALUES(32,X'0310',19);
INSERT INTO library_search_docsize VALUES(33,X'0102',2);
INSERT INTO library_search_docsize VALUES(49,X'0103',17);
CREATE TABLE IF NOT EXISTS 'library_search_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO library_search_config VALUES('version',4);
CREATE TABLE file_entries (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    guid TEXT NOT NULL,
    revision INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope, origin, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE file_origins (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (scope, origin)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    persona TEXT NOT NULL,
    persona_scope TEXT,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    model TEXT,
    overrides TEXT NOT NULL DEFAULT '{}',
    root TEXT,
    parent_id TEXT REFERENCES sessions (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    parent_call TEXT,
    depth INTEGER NOT NULL DEFAULT 0,
    title TEXT,
    answered_by TEXT,
    answered_since TEXT,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT 0,
    lease_node TEXT,
    lease_until TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
, max_tool_rounds INTEGER) STRICT;
CREATE TABLE session_log (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    provider_state TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT;
CREATE TABLE session_approvals (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    input TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    answer TEXT,
    PRIMARY KEY (session_id, seq)
) STRICT;
CREATE TABLE session_plans (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    content TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS "agent_revision_tags" (
    guid TEXT NOT NULL,
    tag TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    author TEXT,
    front TEXT,
    message TEXT,
    revision_guid TEXT NOT NULL,
    PRIMARY KEY (guid, tag)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_revision_tags VALUES('01a1eb49-29a1-74ee-a5f1-d3761fa98b78','stable',2,'2026-11-17T20:53:23.314218Z','root','cli',NULL,'01a1eb49-29a1-74ee-a5f1-d3761fa98b78');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('agent_parts',4);
INSERT INTO sqlite_sequence VALUES('agent_revisions',20);
INSERT INTO sqlite_sequence VALUES('agent_traits',1);
INSERT INTO sqlite_sequence VALUES('agent_skills',1);
INSERT INTO sqlite_sequence VALUES('agent_guardrails',1);
INSERT INTO sqlite_sequence VALUES('agent_tool_presets',1);
INSERT INTO sqlite_sequence VALUES('agent_bias_profiles',1);
INSERT INTO sqlite_sequence VALUES('agent_context_presets',1);
INSERT INTO sqlite_sequence VALUES('agent_test_inputs',1);
INSERT INTO sqlite_sequence VALUES('agent_personas',2);
INSERT INTO sqlite_sequence VALUES('character_arcs',1);
INSERT INTO sqlite_sequence VALUES('arc_stages',4);
CREATE INDEX agent_parts_part_type ON agent_parts (part_type, name);
CREATE INDEX agent_traits_trait_type ON agent_traits (trait_type, name);
CREATE INDEX arc_stage_parts_part_id ON arc_stage_parts (part_id);
CREATE INDEX agent_persona_parts_part_id ON agent_persona_parts (part_id);
CREATE INDEX agent_persona_traits_trait_id ON agent_persona_traits (trait_id);
CREATE INDEX agent_persona_skills_skill_id ON agent_persona_skills (skill_id);
CREATE INDEX agent_persona_guardrails_guardrail_id ON agent_persona_guardrails (guardrail_id);
CREATE INDEX persona_arc_arc_id ON persona_arc (arc_id);
CREATE INDEX persona_arc_current_stage_id ON persona_arc (current_stage_id);
CREATE INDEX agent_persona_test_inputs_test_input_id ON agent_persona_test_inputs (test_input_id);
CREATE INDEX agent_personas_updated_at ON agent_personas (updated_at);
CREATE INDEX agent_revisions_name ON agent_revisions (scope, origin, kind, name, revision);
CREATE INDEX agent_persona_usage_last_used_at ON agent_persona_usage (last_used_at);
CREATE INDEX agent_tags_entity_id ON agent_tags (kind, entity_id);
CREATE TRIGGER agent_personas_tags_insert AFTER INSERT ON agent_personas WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_personas', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_personas_tags_update AFTER UPDATE OF tags ON agent_personas WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_personas' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_personas', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_personas_tags_delete AFTER DELETE ON agent_personas WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_personas' AND entity_id = old.id;
END;
CREATE TRIGGER agent_parts_tags_insert AFTER INSERT ON agent_parts WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_parts', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_parts_tags_update AFTER UPDATE OF tags ON agent_parts WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_parts' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_parts', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_parts_tags_delete AFTER DELETE ON agent_parts WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_parts' AND entity_id = old.id;
END;
CREATE TRIGGER agent_traits_tags_insert AFTER INSERT ON agent_traits WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_traits', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_traits_tags_update AFTER UPDATE OF tags ON agent_traits WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_traits' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_traits', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_traits_tags_delete AFTER DELETE ON agent_traits WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_traits' AND entity_id = old.id;
END;
CREATE TRIGGER agent_skills_tags_insert AFTER INSERT ON agent_skills WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_skills', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_skills_tags_update AFTER UPDATE OF tags ON agent_skills WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_skills' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_skills', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_skills_tags_delete AFTER DELETE ON agent_skills WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_skills' AND entity_id = old.id;
END;
CREATE TRIGGER agent_guardrails_tags_insert AFTER INSERT ON agent_guardrails WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_guardrails', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_guardrails_tags_update AFTER UPDATE OF tags ON agent_guardrails WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_guardrails' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_guardrails', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_guardrails_tags_delete AFTER DELETE ON agent_guardrails WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_guardrails' AND entity_id = old.id;
END;
CREATE TRIGGER character_arcs_tags_insert AFTER INSERT ON character_arcs WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'character_arcs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER character_arcs_tags_update AFTER UPDATE OF tags ON character_arcs WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'character_arcs' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'character_arcs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER character_arcs_tags_delete AFTER DELETE ON character_arcs WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'character_arcs' AND entity_id = old.id;
END;
CREATE TRIGGER agent_tool_presets_tags_insert AFTER INSERT ON agent_tool_presets WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_tool_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_tool_presets_tags_update AFTER UPDATE OF tags ON agent_tool_presets WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_tool_presets' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_tool_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_tool_presets_tags_delete AFTER DELETE ON agent_tool_presets WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_tool_presets' AND entity_id = old.id;
END;
CREATE TRIGGER agent_bias_profiles_tags_insert AFTER INSERT ON agent_bias_profiles WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_bias_profiles', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_bias_profiles_tags_update AFTER UPDATE OF tags ON agent_bias_profiles WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_bias_profiles' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_bias_profiles', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_bias_profiles_tags_delete AFTER DELETE ON agent_bias_profiles WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_bias_profiles' AND entity_id = old.id;
END;
CREATE TRIGGER agent_context_presets_tags_insert AFTER INSERT ON agent_context_presets WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_context_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_context_presets_tags_update AFTER UPDATE OF tags ON agent_context_presets WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_context_presets' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_context_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_context_presets_tags_delete AFTER DELETE ON agent_context_presets WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_context_presets' AND entity_id = old.id;
END;
CREATE TRIGGER agent_test_inputs_tags_insert AFTER INSERT ON agent_test_inputs WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_test_inputs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_test_inputs_tags_update AFTER UPDATE OF tags ON agent_test_inputs WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_test_inputs' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_test_inputs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_test_inputs_tags_delete AFTER DELETE ON agent_test_inputs WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_test_inputs' AND entity_id = old.id;
END;
CREATE INDEX agent_personas_extends ON agent_personas (extends) WHERE extends IS NOT NULL;
CREATE INDEX sessions_parent_id ON sessions (parent_id, updated_at, id);
CREATE INDEX agent_revision_tags_revision ON agent_revision_tags (revision_guid, revision);
PRAGMA writable_schema=OFF;
COMMIT;
