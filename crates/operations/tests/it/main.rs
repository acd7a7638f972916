mod documentation;
mod openapi;
mod rows;
mod use_cases;
