"""Names of languages and frameworks, and how people write them.

Owns the tables. A name that is an everyday word too stands only in its telling spellings.
"""

from __future__ import annotations

from collections.abc import Iterator


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for line in text.strip().splitlines():
        name, _, spellings = line.strip().partition("=")
        yield name, spellings


LANGUAGES: dict[str, str] = dict(
    _rows(
        """
        python=py pyi ipynb python python3
        javascript=js jsx mjs cjs javascript node
        typescript=ts tsx mts cts typescript
        go=go golang
        rust=rs rust
        java=java
        kotlin=kt kts kotlin
        scala=scala sbt
        ruby=rb ruby
        php=php
        csharp=cs csharp c#
        swift=swift
        c=c h
        cpp=cc cpp cxx hpp hh c++
        dart=dart
        elixir=ex exs elixir
        erlang=erl erlang
        haskell=hs haskell
        lua=lua
        r=r
        julia=jl julia
        zig=zig
        shell=sh bash zsh fish shell console
        powershell=ps1 powershell
        sql=sql psql mysql plsql
        html=html htm
        css=css scss sass less
        vue=vue
        svelte=svelte
        graphql=graphql gql
        protobuf=proto protobuf
        terraform=tf tfvars hcl
        yaml=yaml yml
        toml=toml
        json=json jsonc
        makefile=makefile mk
        nginx=nginx
        xml=xml
        solidity=sol
        """
    )
)
"""Name of a language: the labels of code blocks and the extensions of files that mean it."""

MINOR_LANGUAGES = frozenset(("json", "yaml", "toml", "xml", "html", "css", "shell", "makefile"))
"""Languages that most conversations show some of; they name a note only where they lead."""

SPOKEN: dict[str, str] = dict(
    _rows(
        """
        python=python python3 pip pytest
        javascript=javascript js
        typescript=typescript tsconfig
        go=golang goroutine goroutines go_mod gofmt
        rust=rust cargo rustc
        java=java jvm jdk
        kotlin=kotlin
        scala=scala
        ruby=ruby
        php=php
        csharp=c# .net dotnet
        swift=swift swiftui
        cpp=c++
        dart=dart
        elixir=elixir
        haskell=haskell
        sql=sql
        shell=bash zsh shell
        powershell=powershell
        lua=lua
        """
    )
)
"""Name of a language: how texts call it."""

FRAMEWORKS: dict[str, str] = dict(
    _rows(
        """
        redis=redis memurai
        postgresql=postgres postgresql psycopg psycopg2 pg_dump pgbouncer plpgsql
        mysql=mysql mariadb innodb mysqldump mysqld
        sqlite=sqlite sqlite3
        mongodb=mongo mongodb mongoose
        elasticsearch=elasticsearch opensearch mapper_parsing_exception
        kafka=kafka
        rabbitmq=rabbitmq amqp
        nats=nats jetstream
        clickhouse=clickhouse
        cassandra=cassandra
        dynamodb=dynamodb
        s3=s3 minio
        docker=docker dockerfile buildkit containerd dockerhub
        docker-compose=docker-compose docker_compose compose.yml compose.yaml
        kubernetes=kubernetes k8s kubectl kubelet configmap pod pods
        helm=helm
        terraform=terraform opentofu
        ansible=ansible
        nginx=nginx
        caddy=caddy caddyfile
        traefik=traefik
        haproxy=haproxy
        apache=apache2 httpd
        systemd=systemd systemctl journalctl
        linux=linux ubuntu debian centos
        windows=windows
        macos=macos
        git=git rebase cherry-pick
        github-actions=github_actions github_action actions/checkout actions/cache .github/workflows
        gitlab-ci=gitlab-ci gitlab_ci
        jenkins=jenkins jenkinsfile
        aws=aws ec2 cloudfront iam
        gcp=gcp google_cloud bigquery
        azure=azure
        cloudflare=cloudflare wrangler
        vercel=vercel
        react=react reactjs tsx jsx react.js react-dom usestate useeffect usememo usecallback useref
        react-native=react-native react_native
        nextjs=nextjs next.js
        vue=vue vue3 vue2 vuejs vue.js vuex pinia
        nuxt=nuxt
        angular=angular rxjs
        svelte=svelte sveltekit
        redux=redux rtk
        zustand=zustand
        tailwind=tailwind tailwindcss
        vite=vite rollup
        vitest=vitest
        webpack=webpack
        babel=babel
        eslint=eslint
        jest=jest
        playwright=playwright
        cypress=cypress
        selenium=selenium
        storybook=storybook
        electron=electron
        node=node nodejs node.js npm npx
        pnpm=pnpm
        yarn=yarn
        bun=bunx bun.lockb bun_install
        deno=deno
        express=expressjs express.js
        nestjs=nestjs nest.js
        fastify=fastify
        graphql=graphql apollo
        grpc=grpc
        websocket=websocket websockets socket.io
        cors=cors 跨域
        jwt=jwt jwts
        oauth=oauth oauth2 oidc
        tls=tls ssl certbot
        ssh=ssh ssh-agent sshd known_hosts
        http=http http/2 content-type
        cookie=cookie cookies set-cookie
        dns=dns coredns resolv.conf
        ntp=ntp chrony
        ci=ci pipeline pipelines github_actions .gitlab-ci.yml jenkins 流水线
        git-lfs=git-lfs git_lfs lfs
        cuda=cuda gpu 显存
        encoding=encoding charset utf-8-sig mojibake 乱码 字符集 编码
        miniprogram=wxss weapp wx.request
        小程序=小程序
        gson=gson
        jackson=jackson
        proguard=r8
        retrofit=retrofit okhttp
        streamlit=streamlit
        logging=logging log4j logback
        security=security xss csrf sql_injection 注入 漏洞
        monorepo=monorepo turborepo nx
        testing=tests flaky unittest 单元测试
        django=django
        flask=flask send_file
        fastapi=fastapi starlette
        uvicorn=uvicorn
        gunicorn=gunicorn
        celery=celery
        sqlalchemy=sqlalchemy
        alembic=alembic
        pydantic=pydantic
        pytest=pytest
        pandas=pandas dataframe dataframes
        numpy=numpy ndarray
        pytorch=pytorch torch
        tensorflow=tensorflow keras
        scikit-learn=scikit-learn sklearn
        asyncio=asyncio aiohttp
        airflow=airflow
        spark=spark pyspark
        jupyter=jupyter
        poetry=poetry.lock poetry_install
        uv=uv
        conda=conda
        spring=spring spring-boot springboot springframework feign openfeign @transactional
        hibernate=hibernate jpa
        mybatis=mybatis mapper.xml
        maven=maven mvn pom.xml
        gradle=gradle
        tomcat=tomcat
        netty=netty
        dubbo=dubbo
        nacos=nacos
        rails=rails activerecord active_record actionview actioncontroller activesupport
        sidekiq=sidekiq
        laravel=laravel eloquent
        symfony=symfony
        tokio=tokio
        axum=axum
        actix=actix
        serde=serde
        gin=gin-gonic
        gorm=gorm
        goroutine=goroutine goroutines
        flutter=flutter statefulwidget initstate pubspec.yaml
        android=android logcat mainactivity broadcastreceiver leakcanary apk proguard
        ios=ios xcode
        unity=unity3d unityengine
        qt=qt5 qt6
        opencv=opencv
        cmake=cmake
        prisma=prisma
        typeorm=typeorm
        sequelize=sequelize
        drizzle=drizzle
        prometheus=prometheus promql
        grafana=grafana
        opentelemetry=opentelemetry otel
        sentry=sentry
        loki=loki
        openai=openai
        langchain=langchain
        ollama=ollama
        faiss=faiss
        utf-8=utf-8 utf8 utf-8-sig utf8mb4
        gbk=gbk gb18030
        bom=bom
        unicode=unicode emoji 表情
        timezone=timezone time_zone timezones time_zones 时区
        regex=regex regexp 正则
        csv=csv
        decimal=decimal
        cron=cron crontab cronjob
        cache=cache caching cached 缓存
        concurrency=concurrency concurrent race_condition data_race 并发
        deadlock=deadlock deadlocks 死锁
        migration=migration migrations
        index=联合索引 索引 composite_index covering_index
        performance=slow latency performance 性能 很慢
        memory-leak=memory_leak memory_leaks leak leaks 内存泄漏 泄漏
        """
    )
)
"""Name of a framework, tool or field of work: how texts call it; underscores join words."""
